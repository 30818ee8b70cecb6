/**
 * The controllers of the requests' benches: the same handler in every variant, each on a path of its own. `parts` has what the
 * workspace's packages export; `peers` says whether they are there.
 */
import { decorate } from './site.mjs';

const answer = () => ({ id: 7, name: 'tea', price: 2.5 });

/** A controller with one handler, sync and async. `annotate` puts on it what the variant is about. */
function createController({ Controller, Get }, path, annotate) {
  class Orders {
    read() {
      return answer();
    }

    async readLater() {
      return answer();
    }
  }
  for (const method of ['read', 'readLater']) {
    annotate?.((decorator) => decorate(Orders, method, decorator), Orders, method);
    decorate(Orders, method, Get(method === 'read' ? 'now' : 'later'));
  }
  Controller(path)(Orders);
  return Orders;
}

/** What a span of a handler carries, for those who don't set it by themselves. */
const attributesOf = (path, method) => ({
  'nestlens.group': path,
  'code.function.name': `Orders.${method}`,
  'nestjs.controller': 'Orders',
  'nestjs.callback': method,
  'nestjs.type': 'http',
  'http.route': `/${path}/${method === 'read' ? 'now' : 'later'}`,
});

export function createControllers(parts, { peers }) {
  const { SpanGroup, SpanGroupInterceptor, UseInterceptors, Span, TraceWrapper } = parts;
  class PassThroughInterceptor {
    intercept(_context, next) {
      return next.handle();
    }
  }
  const intercepted = (Interceptor, group) => (apply) => {
    if (group) apply(SpanGroup(group));
    apply((prototype, key, descriptor) => {
      UseInterceptors(Interceptor)(prototype, key, descriptor);
      return descriptor;
    });
  };
  const variants = {
    plain: undefined,
    'plain-again': undefined,
    off: (apply) => apply(SpanGroup('off')),
    on: (apply) => apply(SpanGroup('on')),
    'pass-through': intercepted(PassThroughInterceptor),
    'interceptor-off': intercepted(SpanGroupInterceptor, 'off'),
    'interceptor-on': intercepted(SpanGroupInterceptor, 'on'),
    ...(peers && {
      'nestjs-otel': (apply, _class, method) =>
        apply(Span(`Orders.${method}`, { attributes: attributesOf('nestjs-otel', method) })),
      amplication: (apply, _class, method) =>
        apply((_prototype, _key, descriptor) => ({
          ...descriptor,
          value: TraceWrapper.wrap(descriptor.value, `Orders.${method}`, attributesOf('amplication', method)),
        })),
    }),
  };
  return Object.entries(variants).map(([path, annotate]) => createController(parts, path, annotate));
}
