/** An HTTP adapter without HTTP: it keeps the handlers that Nest's router gives it, and answers into an object. */
export function createRouterAdapter({ AbstractHttpAdapter }) {
  const handlers = new Map();
  const nothing = () => undefined;
  class RouterAdapter extends AbstractHttpAdapter {
    handlers = handlers;
    constructor() {
      super({ get: (path, handler) => void handlers.set(path, handler), use: nothing });
    }
    initHttpServer() {
      this.httpServer = { once: nothing, on: nothing, removeListener: nothing };
    }
    getType = () => 'router';
    normalizePath = (path) => path;
    reply = (response, body) => {
      response.body = body;
    };
    status = (response, status) => {
      response.status = status;
    };
  }
  for (const method of [
    'close',
    'useStaticAssets',
    'setViewEngine',
    'getRequestHostname',
    'getRequestMethod',
    'getRequestUrl',
    'end',
    'render',
    'redirect',
    'setErrorHandler',
    'setNotFoundHandler',
    'isHeadersSent',
    'setHeader',
    'getHeader',
    'appendHeader',
    'registerParserMiddleware',
    'enableCors',
    'createMiddlewareFactory',
    'applyVersionFilter',
  ]) {
    RouterAdapter.prototype[method] = nothing;
  }
  return new RouterAdapter();
}
