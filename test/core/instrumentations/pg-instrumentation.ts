import { InstrumentationBase } from '@opentelemetry/instrumentation';

/** An instrumentation with a real one's name, which patches nothing. */
export function pgInstrumentation(): InstrumentationBase {
  class PgInstrumentation extends InstrumentationBase {
    constructor() {
      super('@opentelemetry/instrumentation-pg', '0.76.0', {});
    }

    protected override init(): [] {
      return [];
    }
  }
  return new PgInstrumentation();
}
