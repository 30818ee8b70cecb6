import type { QuotedDetails } from './quote-details.js';
import type { RegistryInventory, UnknownShape, WarningDetails } from './warning-details.js';

/** What is registered, for messages about a spec that doesn't fit it. */
export function inventory({ groups, presets, namespaces }: QuotedDetails<RegistryInventory>): string {
  return `Registered groups: ${groups}. Presets: ${presets}. Namespaces: ${namespaces}.`;
}

/** The whole message, by whether somebody has set a spec. */
export function specUnresolved({
  spec,
  isSet,
  pending,
  nearest,
  ...registry
}: QuotedDetails<WarningDetails['SPEC_UNRESOLVED']>): string {
  if (!isSet) {
    return (
      `No span group spec is set, so it is '${spec}', and nobody in this process has registered a preset of that name: nothing ` +
      `is emitted. Set NEST_LENS_SPAN_GROUPS or config.spanGroups to groups or presets, or register a preset '${spec}'. ` +
      inventory(registry)
    );
  }
  const pairs = Object.entries(nearest);
  const hints = pairs.map(([name, other]) => `Did you mean '${other}' for '${name}'? `).join('');
  const comma = pairs.some(([, other]) => other.includes(',')) ? 'Entries are separated by commas. ' : '';
  return (
    `Span group spec '${spec}' names ${pending}, and nothing of that name is registered in this process. Nothing is ` +
    `emitted for it; the rest of the spec applies. ${hints}${comma}${inventory(registry)} If another ` +
    `process that shares the spec knows the name, ignore this; otherwise correct it, or import the library that registers it.`
  );
}

/** The whole message, by the place of the ignored options. */
export function optionsIgnored({
  reason,
  options,
}: QuotedDetails<WarningDetails['OPTIONS_IGNORED']>): string {
  if (reason === 'early start') {
    return (
      "Telemetry was started by nest-lens/register, from the environment. Of the application's own options only the spec counts; exporters, processors, " +
      'readers, instrumentations, resource and the choice of signals are ignored. Set them as variables, or start without nest-lens/register.'
    );
  }
  return reason === 'second app'
    ? `Telemetry is already set up in this process, and this application uses that set-up. Its options ${options} differ from it, ` +
        `and are ignored. Leave them out, give them to the application that starts first, or close that application before this one starts.`
    : `NestLensModule.forRoot was called more than once in one application. The first call sets up. The options ${options} of a ` +
        `later one differ from it, and are ignored. Leave them out there; its registrations do count.`;
}

/** What doesn't work, by the unknown part of the SDK. */
export const UNKNOWN_SHAPES: Readonly<Record<UnknownShape, string>> = {
  processors:
    "NestLens can't find the span processors that this SDK has made. Spans are exported all the same, but NestLens can't count " +
    'exports or warn when they fail, and a close neither ends open spans of others nor waits for a batch that is being exported.',
  exporter:
    "NestLens can't find the exporter of a span processor that this SDK has made. Spans are exported all the same, but " +
    "NestLens can't count exports or warn when they fail, and a close doesn't wait for a batch that is being exported.",
  'batch processor':
    "NestLens can't find the batch processor of this SDK, which it needs for an exporter that is given beside processors. It " +
    'exports each span by itself as it ends.',
  resource:
    "NestLens can't find the default resource of this SDK. Spans are exported all the same, but without nestlens.run_id, " +
    'nestlens.user_id and the resourceAttributes of the options.',
  modules:
    "NestLens can't see what an instrumentation patches. It works all the same, but NestLens can't warn when it starts too late, and " +
    'with nest-lens/register it sees no ES modules.',
};

/** Why a signed header turned nothing on. */
export const OPT_IN_PROBLEMS: Readonly<Record<string, string>> = {
  oversized: 'it is longer than 2,048 characters',
  duplicate: 'the request has it more than once',
  malformed: 'it is not a signed spec',
  expired: 'it has expired',
  expiresTooLate: 'it would be valid for more than a day',
  badSignature: 'it is not signed with any of the keys',
  notAllowed: 'nothing that it names is registered here and in requestOptIn.allow',
};

/** Which spans flow whatever the spec says, and what to do. */
export const UNGATED: Readonly<Record<WarningDetails['INSTRUMENTATIONS_UNGATED']['spans'], string>> = {
  none: '',
  'earlier tracers':
    'The tracers of the registered provider do not say which instrumentation they belong to, so only tracers that are created from now ' +
    'on can be gated. The spec does not apply to instrumentations that have already made a span, or that took their tracer from the provider itself. ' +
    "Let NestLens start the SDK (mode 'own'), or register a provider of @opentelemetry/sdk-trace-base. ",
  all:
    'The registered tracer provider can neither be gated nor be replaced: the spans of instrumentations are emitted whatever the spec says. ' +
    "Let NestLens start the SDK (mode 'own'), or register a provider of @opentelemetry/sdk-trace-base. ",
  'failed gates':
    'A gate has failed, so its span is made whatever the spec says; this is said once. Check the names and options that tracers are given. ',
};

/** What goes wrong if the context manager can't be changed. */
export const OFF_SPAN_ACTIVE =
  'The registered context manager cannot be changed: trace.getActiveSpan() may be a span that is off, and attributes that are set on it are lost. ' +
  'Let NestLens start the SDK, or register a context manager of @opentelemetry/context-async-hooks.';
