import { UseInterceptors } from '@nestjs/common';
import { SpanGroup, SpanGroupInterceptor } from 'nest-lens';

/** How a handler is instrumented: not at all, by the decorator alone, or by the interceptor as well. */
export type Binding = 'plain' | 'decorated' | 'intercepted';

/** Puts a handler into the group `orders`. */
export function inOrders(binding: Binding): MethodDecorator {
  return (target, key, descriptor) => {
    let result = descriptor;
    if (binding !== 'plain') result = (SpanGroup('orders')(target, key, result) as typeof result) ?? result;
    if (binding === 'intercepted') UseInterceptors(SpanGroupInterceptor)(target, key, result);
    return result;
  };
}
