/** The reason for a failed export or flush, as far as its error tells. */
export type ExportFailure =
  | 'time is up'
  | 'refused'
  | 'no such host'
  | 'no connection'
  | 'timed out'
  | 'TLS'
  | 'not allowed'
  | 'not found'
  | 'rejected'
  | 'overloaded'
  | 'invalid address'
  | 'module flag'
  | 'other';

/** Codes of Node's errors. */
const NODE_CODES: Readonly<Record<string, ExportFailure>> = {
  ECONNREFUSED: 'refused',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'no such host',
  ECONNRESET: 'no connection',
  EPIPE: 'no connection',
  EHOSTUNREACH: 'no connection',
  ENETUNREACH: 'no connection',
  ETIMEDOUT: 'timed out',
  EPROTO: 'TLS',
  ERR_INVALID_URL: 'invalid address',
  ERR_VM_DYNAMIC_IMPORT_CALLBACK_MISSING: 'module flag',
  ERR_VM_DYNAMIC_IMPORT_CALLBACK_MISSING_FLAG: 'module flag',
};

/** HTTP statuses, and gRPC codes, which are below 17. */
const STATUSES: Readonly<Record<number, ExportFailure>> = {
  4: 'timed out',
  7: 'not allowed',
  8: 'overloaded',
  12: 'not found',
  16: 'not allowed',
  401: 'not allowed',
  403: 'not allowed',
  404: 'not found',
  405: 'not found',
  429: 'overloaded',
};

/** Messages of OpenTelemetry's exporters that come without a code. gRPC's code 14 gives the cause in words. */
const WORDS: readonly [RegExp, ExportFailure][] = [
  [/experimental-vm-modules/, 'module flag'],
  [/ECONNREFUSED/, 'refused'],
  [/ENOTFOUND|Name resolution failed/, 'no such host'],
  [/certificate|\bSSL\b|\bTLS\b/i, 'TLS'],
  [/timed? ?out|deadline|has not answered/i, 'timed out'],
  [/retryable status/, 'overloaded'],
  [/ECONNRESET|socket hang up|UNAVAILABLE/, 'no connection'],
];

/** Finds the reason in the error of an exporter or a flush. Never throws. */
export function exportFailureOf(error: unknown): ExportFailure {
  try {
    const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
    if (typeof code === 'string' && NODE_CODES[code] !== undefined) return NODE_CODES[code];
    if (typeof code === 'number' && STATUSES[code] !== undefined) return STATUSES[code];
    if (typeof code === 'number' && code >= 500) return 'overloaded';
    if (typeof code === 'number' && code >= 400) return 'rejected';
    const text = String(message);
    return WORDS.find(([words]) => words.test(text))?.[1] ?? 'other';
  } catch {
    return 'other';
  }
}

interface Explanation {
  readonly reason: string;
  readonly remedy: string;
}

const CHECK = 'Check OTEL_EXPORTER_OTLP_ENDPOINT, and that the collector runs.';

/** The meaning of each reason, and what to do. None names the host of the collector, so that the endpoint may show it. */
const EXPLANATIONS: Readonly<Record<Exclude<ExportFailure, 'other'>, Explanation>> = {
  'time is up': {
    reason: 'the time was up',
    remedy: 'Check that the collector can be reached, or raise shutdownTimeoutMs.',
  },
  refused: { reason: 'the collector refused the connection', remedy: CHECK },
  'no such host': { reason: "the collector's host name is not known", remedy: CHECK },
  'no connection': { reason: 'the connection to the collector failed or broke off', remedy: CHECK },
  'timed out': {
    reason: 'the collector did not answer in time',
    remedy: 'Check that the collector keeps up, or raise OTEL_EXPORTER_OTLP_TIMEOUT.',
  },
  TLS: {
    reason: 'no secure connection to the collector could be made',
    remedy: 'Check http or https in OTEL_EXPORTER_OTLP_ENDPOINT, and OTEL_EXPORTER_OTLP_CERTIFICATE.',
  },
  'not allowed': {
    reason: 'the collector did not accept the credentials',
    remedy: 'Check OTEL_EXPORTER_OTLP_HEADERS.',
  },
  'not found': {
    reason: "the collector's address answers, but does not accept spans",
    remedy:
      'Check path, port and protocol: OTEL_EXPORTER_OTLP_ENDPOINT has to be without /v1/traces, and OTEL_EXPORTER_OTLP_PROTOCOL is ' +
      'http/protobuf by default (port 4318), not grpc (port 4317).',
  },
  rejected: {
    reason: 'the collector rejected the spans',
    remedy:
      'Look at its log. Usual causes are spans that are too large, and another version of the protocol.',
  },
  overloaded: {
    reason: 'the collector answers that it cannot accept spans at present',
    remedy: 'Look at its log; emit fewer spans, or give it more resources.',
  },
  'invalid address': { reason: 'the address of the collector is not valid', remedy: CHECK },
  'module flag': {
    reason: 'the exporter could not load its HTTP client within jest',
    remedy:
      'Start jest with NODE_OPTIONS=--experimental-vm-modules, or keep the spans in memory, as docs/testing.md shows.',
  },
};

/** Explains a reason in words. For unknown errors it takes the error's message, without addresses. */
export function explainExportFailure(failure: ExportFailure, error: string): Explanation {
  if (failure !== 'other') return EXPLANATIONS[failure];
  return { reason: withoutAddresses(error), remedy: 'Check the exporter and its collector.' };
}

/** URLs, host names with a port, and IP addresses. */
const ADDRESSES =
  /\b[a-z][a-z0-9+.-]*:\/\/[^\s'"<>)]+|\[?[\da-f]*:[\da-f:]+\]?:\d{2,5}|\b[\w-]+(?:\.[\w-]+)+:\d{2,5}|\b\d{1,3}(?:\.\d{1,3}){3}\b/gi;

function withoutAddresses(text: string): string {
  return text.replace(ADDRESSES, '[address]');
}
