import { CONTROL_SCRIPT } from './script/control.js';
import { DOM_SCRIPT } from './script/dom.js';
import { GROUPS_SCRIPT } from './script/groups.js';
import { LIFE_SCRIPT } from './script/life.js';
import { REQUESTS_SCRIPT } from './script/requests.js';
import { SPEC_SCRIPT } from './script/spec.js';
import { TRACES_SCRIPT } from './script/traces.js';

/**
 * The script of the page. It is kept as text, because the application's compiler and bundler would change functions before
 * they reach the browser. A test lints it.
 */
export const PAGE_SCRIPT = [
  "'use strict';",
  DOM_SCRIPT,
  REQUESTS_SCRIPT,
  SPEC_SCRIPT,
  GROUPS_SCRIPT,
  CONTROL_SCRIPT,
  TRACES_SCRIPT,
  LIFE_SCRIPT,
].join('\n');
