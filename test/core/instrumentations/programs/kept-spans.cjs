// Keeps the spans that end, counts those that are open, and hears what OpenTelemetry complains of.
const { diag, DiagLogLevel } = require('@opentelemetry/api');

const complaints = [];
const collect = (...parts) => complaints.push(parts.map(String).join(' '));
diag.setLogger(
  { error: collect, warn: collect, info: collect, debug: collect, verbose: collect },
  { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
);

const ended = [];
let open = 0;

/** A span processor. */
const keeping = {
  onStart: () => void open++,
  onEnd(span) {
    open--;
    ended.push(span);
  },
  forceFlush: () => Promise.resolve(),
  shutdown: () => Promise.resolve(),
};

/** Resolves when no span is open, and takes the spans that have ended: those of one request. */
async function takeSpans() {
  const giveUpAt = Date.now() + 5_000;
  while (open > 0 && Date.now() < giveUpAt) await new Promise(setImmediate);
  return ended.splice(0).map((span) => ({
    scope: span.instrumentationScope.name,
    kind: span.kind,
    name: span.name,
    id: span.spanContext().spanId,
    traceId: span.spanContext().traceId,
    parent: span.parentSpanContext?.spanId,
    attributes: span.attributes,
  }));
}

module.exports = { complaints, keeping, takeSpans, countOpen: () => open };
