import type { Type } from '@nestjs/common';
import { createControlController } from './control.controller.js';
import { createGroupsController } from './groups.controller.js';
import type { ReadIntrospection } from './introspection-options.js';
import { createPageController } from './page.controller.js';
import { createPreviewController } from './preview.controller.js';
import { createTracesController } from './traces.controller.js';

/** Makes the controllers of one `forRoot`. */
export function createLensControllers(introspection: ReadIntrospection): Type<object>[] {
  const { runtimeControl, page, recentTraces } = introspection;
  return [
    createGroupsController(introspection),
    ...(runtimeControl === false
      ? []
      : [
          createControlController(introspection, runtimeControl),
          createPreviewController(introspection, runtimeControl),
        ]),
    ...(page ? [createPageController(introspection)] : []),
    ...(recentTraces > 0 ? [createTracesController(introspection)] : []),
  ];
}
