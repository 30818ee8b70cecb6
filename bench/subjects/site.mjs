/**
 * One site for each way to write it. Import it with a query of its own (`./site.mjs?3`): each copy has code and type feedback
 * of its own, as sixteen places of an application have.
 *
 * What is written by hand follows OpenTelemetry's documentation, and sets the attributes that NestLens sets.
 */
import { inlinable, plain, plainWithOptions } from './plain.mjs';

const { Subject, work, workLater } = await import(`./work.mjs${new URL(import.meta.url).search}`);

/** Applies decorators to a method, the last one first, as compiled code does where `reflect-metadata` is loaded. */
export function decorate(Class, method, ...decorators) {
  const { prototype } = Class;
  const descriptor = Object.getOwnPropertyDescriptor(prototype, method);
  const decorated = Reflect.decorate
    ? Reflect.decorate(decorators, prototype, method, descriptor)
    : decorators.reduceRight((last, decorator) => decorator(prototype, method, last) ?? last, descriptor);
  Object.defineProperty(prototype, method, decorated);
}

export const directMethod = () => new Subject();

export function decoratedMethod({ SpanGroup }) {
  class Decorated extends Subject {}
  Object.defineProperties(Decorated.prototype, ownMethods());
  decorate(Decorated, 'work', SpanGroup('bench', { name: 'Subject.work' }));
  decorate(Decorated, 'workLater', SpanGroup('bench', { name: 'Subject.work' }));
  return new Decorated();
}

/** The attributes of `decoratedMethod`, for those who don't set them by themselves. */
const ATTRIBUTES = { 'nestlens.group': 'bench', 'code.function.name': 'Subject.work' };

/** `@Span` of nestjs-otel. */
export function nestjsOtelMethod({ Span }) {
  class Decorated extends Subject {}
  Object.defineProperties(Decorated.prototype, ownMethods());
  decorate(Decorated, 'work', Span('Subject.work', { attributes: ATTRIBUTES }));
  decorate(Decorated, 'workLater', Span('Subject.work', { attributes: ATTRIBUTES }));
  return new Decorated();
}

/** What `@Span` of @amplication/opentelemetry-nestjs makes of a method when the application starts. */
export function amplicationMethod({ TraceWrapper }) {
  const wrap = (_prototype, _method, descriptor) => ({
    ...descriptor,
    value: TraceWrapper.wrap(descriptor.value, 'Subject.work', ATTRIBUTES),
  });
  class Decorated extends Subject {}
  Object.defineProperties(Decorated.prototype, ownMethods());
  decorate(Decorated, 'work', wrap);
  decorate(Decorated, 'workLater', wrap);
  return new Decorated();
}

/** A decorator needs methods of the class itself. */
function ownMethods() {
  const { work, workLater } = Object.getOwnPropertyDescriptors(Subject.prototype);
  return { work, workLater };
}

export function handWrittenMethod({ tracer }) {
  class HandWritten extends Subject {
    work(a, b) {
      const attributes = { 'nestlens.group': 'bench', 'code.function.name': 'Subject.work' };
      return tracer.startActiveSpan('Subject.work', { attributes }, (span) => {
        try {
          return super.work(a, b);
        } catch (error) {
          span.recordException(error);
          span.setStatus({ code: 2, message: error.message });
          throw error;
        } finally {
          span.end();
        }
      });
    }

    workLater(a, b) {
      const attributes = { 'nestlens.group': 'bench', 'code.function.name': 'Subject.work' };
      return tracer.startActiveSpan('Subject.work', { attributes }, async (span) => {
        try {
          return await super.workLater(a, b);
        } catch (error) {
          span.recordException(error);
          span.setStatus({ code: 2, message: error.message });
          throw error;
        } finally {
          span.end();
        }
      });
    }
  }
  return new HandWritten();
}

export const directFunction = () => work;
export const directFunctionLater = () => workLater;

export const tracedFunction = ({ traceFn }) => traceFn('bench', 'Subject.work')(work);
export const tracedFunctionLater = ({ traceFn }) => traceFn('bench', 'Subject.work')(workLater);

export function handWrittenFunction({ tracer }) {
  return (a, b) =>
    tracer.startActiveSpan('Subject.work', { attributes: { 'nestlens.group': 'bench' } }, (span) => {
      try {
        return work(a, b);
      } catch (error) {
        span.recordException(error);
        span.setStatus({ code: 2, message: error.message });
        throw error;
      } finally {
        span.end();
      }
    });
}

export function handWrittenFunctionLater({ tracer }) {
  return (a, b) =>
    tracer.startActiveSpan('Subject.work', { attributes: { 'nestlens.group': 'bench' } }, async (span) => {
      try {
        return await workLater(a, b);
      } catch (error) {
        span.recordException(error);
        span.setStatus({ code: 2, message: error.message });
        throw error;
      } finally {
        span.end();
      }
    });
}

export const closure = () => (a, b) => plain('Subject.work', () => work(a, b));
export const closureLater = () => (a, b) => plain('Subject.work', () => workLater(a, b));
export const inlinedClosure = () => (a, b) => inlinable('Subject.work', () => work(a, b));
export const inlinedClosureLater = () => (a, b) => inlinable('Subject.work', () => workLater(a, b));

export function managedBlock({ managedSpan }) {
  return (a, b) => managedSpan('bench', 'Subject.work', () => work(a, b));
}
export function managedBlockLater({ managedSpan }) {
  return (a, b) => managedSpan('bench', 'Subject.work', () => workLater(a, b));
}

export const closureWithOptions = () => (a, b) =>
  plainWithOptions('Subject.work', { attributes: () => ({ a, b }) }, () => work(a, b));
export const closureWithOptionsLater = () => (a, b) =>
  plainWithOptions('Subject.work', { attributes: () => ({ a, b }) }, () => workLater(a, b));

export function managedBlockWithOptions({ managedSpan }) {
  return (a, b) => managedSpan('bench', 'Subject.work', { attributes: () => ({ a, b }) }, () => work(a, b));
}
export function managedBlockWithOptionsLater({ managedSpan }) {
  return (a, b) =>
    managedSpan('bench', 'Subject.work', { attributes: () => ({ a, b }) }, () => workLater(a, b));
}

export function handWrittenBlock({ tracer }) {
  return (a, b) =>
    tracer.startActiveSpan('Subject.work', { attributes: { a, b, 'nestlens.group': 'bench' } }, (span) => {
      try {
        return work(a, b);
      } catch (error) {
        span.recordException(error);
        span.setStatus({ code: 2, message: error.message });
        throw error;
      } finally {
        span.end();
      }
    });
}

export function handWrittenBlockLater({ tracer }) {
  return (a, b) =>
    tracer.startActiveSpan(
      'Subject.work',
      { attributes: { a, b, 'nestlens.group': 'bench' } },
      async (span) => {
        try {
          return await workLater(a, b);
        } catch (error) {
          span.recordException(error);
          span.setStatus({ code: 2, message: error.message });
          throw error;
        } finally {
          span.end();
        }
      },
    );
}

let noted = 0;
export function guardedBlock({ isSpanGroupEnabled }) {
  return (a, b) => {
    if (isSpanGroupEnabled('bench')) noted += a;
    return work(a, b);
  };
}
/** So that nobody can drop what the guard guards. */
export const whatWasNoted = () => noted;
