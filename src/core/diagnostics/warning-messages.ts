import type { LensWarningCode } from '../state/lens-warning.js';
import {
  inventory,
  OFF_SPAN_ACTIVE,
  OPT_IN_PROBLEMS,
  optionsIgnored,
  specUnresolved,
  UNGATED,
  UNKNOWN_SHAPES,
} from './explained-details.js';
import { explainExportFailure } from './export-failure.js';
import { type QuotedDetails, quoteDetails } from './quote-details.js';
import type { Warning, WarningDetails } from './warning-details.js';

/**
 * All messages of warnings: code -> message. Each says what is wrong, what the choices are, and what to do next. The details
 * are quoted: lists and errors are strings.
 */
const MESSAGES: {
  readonly [C in LensWarningCode]: (details: QuotedDetails<WarningDetails[C]>) => string;
} = {
  GROUP_COLLISION: ({ namespace, otherNamespace, groups }) =>
    `Namespaces '${namespace}' and '${otherNamespace}' both register ${groups}. They share one gate for each: turning such ` +
    `a group on turns on the spans of both. Rename one of them, or pass { allowOverride: true } if that is intended.`,
  PRESET_MEMBER_UNREGISTERED: ({ namespace, preset, members }) =>
    `Preset '${preset}' of namespace '${namespace}' names ${members}, which nobody has registered so far. They are ` +
    `ignored until somebody registers them. If nobody will, check the spelling.`,
  NAME_STYLE: ({ namespace, names }) =>
    `Namespace '${namespace}' registers ${names}: not lowercase snake_case. The names work as they are, but ` +
    `blanks, commas, '-' and '*' have a meaning in a spec. Prefer names like 'db_query'.`,
  PRESET_SHADOWS_GROUP: ({ namespace, name }) =>
    `'${name}' is both a preset and a span group (seen while namespace '${namespace}' registered). In a spec it means ` +
    `the preset, so the group can't be picked alone. Rename one of them.`,
  LATE_REGISTRATION: ({ namespace }) =>
    `Namespace '${namespace}' registered after telemetry was set up. Its span groups take effect now, but the spec was ` +
    `checked without them. Register in forRoot, in forFeature or in the onModuleInit of a provider.`,
  NOTHING_REGISTERED: ({ spec, isAwaited }) =>
    `Span group spec '${spec}' selects nothing${isAwaited === true ? ' so far' : ''}: no library or module in this process has registered a span group. ` +
    (isAwaited === true
      ? 'The group of an instrumentation is registered with its first span; until then nothing is emitted. '
      : 'Nothing will be emitted. ') +
    `Pass registrations to NestLensModule.forRoot or forFeature, or import the library that registers them.`,
  SPEC_INVALID: ({ problem }) =>
    `The span group spec ${problem}. It is not used, and the spec before it stays in force. Correct it.`,
  SPEC_NOT_SHARED: ({ variable, spec }) =>
    `${variable} is '${spec}'. Python processes with NeMo Lens read the same variable. They know neither '*' nor a leading '-', and ` +
    `read such an entry as a name. Set NEST_LENS_SPAN_GROUPS for this process, or write the names out.`,
  SPEC_WITHOUT_ENABLED: ({ variable, enabledVariable }) =>
    `${variable} is set, but telemetry isn't enabled, so every span group is off. Set ${enabledVariable}=true to turn it on, ` +
    `or ${enabledVariable}=false if it is supposed to be off.`,
  VARIABLE_UNKNOWN: ({ variable, nearest }) =>
    `The variable ${variable} has no effect. Did you mean ${nearest}? Rename it, or unset it.`,
  SPEC_UNRESOLVED: specUnresolved,
  SPEC_SELECTED_NOTHING: ({ spec, ...registry }) =>
    `Span group spec '${spec}' is valid but selects no span group, so nothing will be emitted. ${inventory(registry)} ` +
    `Name a group or a preset that has groups; exclusions only take away from what other entries include.`,
  SPEC_SOURCE_FAILED: ({ source, reason, error, hasGiven }) =>
    `The source of the span group spec '${source}' has a problem: ${reason ?? error}. ` +
    (hasGiven
      ? 'Its last spec stays in force'
      : 'It has given no spec so far, so the configured one is in force') +
    ' until it gives another one. Fix the source; no restart is needed. This warning is not repeated until the source has worked again.',
  SPEC_SOURCE_RECOVERED: ({ source }) => `The source of the span group spec '${source}' works again.`,
  SPEC_SOURCE_NOT_ENDED: ({ source, reason, error }) =>
    `The source of the span group spec '${source}' can't be ended: ${reason ?? error}. It is ignored from now on, but its ` +
    'timers and connections may stay open. Have its watch() return a function that closes it.',
  UNKNOWN_GROUP_AT_SITE: ({ site, group, nearest }) =>
    `${site} names span group '${group}', which nobody has registered: it can never be on. ` +
    (nearest === undefined ? '' : `Did you mean '${nearest}'? `) +
    `Correct the name, or add it to the groups of a registration.`,
  ATTRIBUTES_FAILED: ({ span, error }) =>
    `The attributes of span '${span}' could not be read: ${error}. The span is made without them; this warning is given once. ` +
    `Make the function, or the getters of the object, handle every value that they get.`,
  CARRIER_FAILED: ({ span, error }) =>
    `The carrier of span '${span}' can't be read (${error}). The span is made, but not connected to the sender's trace; this warning is given once. ` +
    `Make the function handle every argument that it gets, and return the headers themselves.`,
  IS_ERROR_FAILED: ({ span, error }) =>
    `An isError function threw when it was asked about an exception of span '${span}': ${error}. The default rule decides ` +
    `instead; this warning is given once. Make the function handle every kind of value.`,
  SPAN_FAILED: ({ span, error }) =>
    `The tracing SDK threw while span '${span}' was started or ended (${error}). The application goes on; this ` +
    `warning is given once. Check the configured sampler, span processors and exporter, or the tracer that the site names.`,
  CONFIG_INVALID: ({ error }) =>
    `Invalid configuration (${error}): telemetry stays off, and every span group is off. Correct it and start again.`,
  SETUP_FAILED: ({ error }) =>
    `Telemetry could not be set up (${error}). The application goes on with every span group off. Correct it and start again.`,
  EXPORT_FAILED: ({ failure, error, spansLost }) => {
    const { reason, remedy } = explainExportFailure(failure, error);
    return (
      `Spans can't be exported: ${reason}. ${spansLost} ${spansLost === 1 ? 'span is' : 'spans are'} lost so far. ${remedy} ` +
      `While exports fail, this warning is repeated at most every ten minutes; another one says when they work again.`
    );
  },
  EXPORT_RECOVERED: ({ spansLost }) =>
    `Spans are exported again. ${spansLost} ${spansLost === 1 ? 'span was' : 'spans were'} lost since telemetry was set up.`,
  FLUSH_INCOMPLETE: ({ failure, error, timeoutMs }) => {
    const { reason, remedy } = explainExportFailure(failure, error);
    const why = failure === 'time is up' ? ` within ${timeoutMs} ms` : `: ${reason}`;
    return `Telemetry could not be flushed${why}. Spans and metrics that were not exported are lost. ${remedy}`;
  },
  SDK_DISABLED: () =>
    'OTEL_SDK_DISABLED is true, so telemetry is off whatever else is configured. Unset it to turn telemetry on.',
  NO_TRACER_PROVIDER: () =>
    "Telemetry is enabled in mode 'attach', but no tracer provider is registered in this process: nothing is exported. " +
    "Register one before NestLens sets up, or use mode 'own'.",
  PROVIDER_KEPT: () =>
    'A tracer provider is already registered in this process, and NestLens uses it. It ignores the exporter, span processors, ' +
    "metric reader, instrumentations and resource attributes of its own options. Use mode 'attach' and leave them out, or don't register your own.",
  OPTIONS_IGNORED: optionsIgnored,
  INSTRUMENTATION_LATE: ({ modules }) =>
    `Some instrumentations start too late: the modules that they patch are already loaded (${modules}), so they make ` +
    `no spans. Start with \`node --import nest-lens/register\`, which is early enough. NestLens's own spans are made either way.`,
  INSTRUMENTATION_FAILED: ({ instrumentation, error }) =>
    `Instrumentation '${instrumentation}' can't be used (${error}). Telemetry starts without it. ` +
    `Install the version that goes with your SDK, or uninstall it.`,
  SDK_UNKNOWN_SHAPE: ({ part }) =>
    `${UNKNOWN_SHAPES[part]} Install a version of @opentelemetry/sdk-node from the table in docs/versions.md, or open an issue that names yours.`,
  RECENT_TRACES_UNSEEN: () =>
    'introspection.recentTraces has no effect: no span processor can be added to the registered tracer provider, so the list of ' +
    "recent traces stays empty. Let NestLens start the SDK (mode 'own'), or register a provider of @opentelemetry/sdk-trace-base.",
  INSTRUMENTATIONS_UNGATED: ({ spans, isOffSpanActive, error }) =>
    `instrumentationGroups has no effect on some spans${error === undefined ? '' : ` (${error})`}. ` +
    `${UNGATED[spans]}${isOffSpanActive ? OFF_SPAN_ACTIVE : ''}`,
  INSTRUMENTATION_OPTION_INVALID: ({ option, given, used, nearest }) =>
    `${option} is ${given}, which is not allowed; ` +
    (used === undefined ? 'it is ignored. ' : `'${used}' is used. `) +
    (nearest === undefined ? '' : `Did you mean '${nearest}'? `) +
    "In `names` a scope has a group name in lowercase snake_case (not 'all' or a preset's), or false; in `presets` a preset has a list of group names.",
  INSTRUMENTATION_OPTION_UNMATCHED: ({ option, name, nearest }) =>
    `${option} names '${name}', and nothing of that name has made a span in this process. ` +
    (nearest === undefined ? '' : `Did you mean '${nearest}'? `) +
    'Take the name from GET /lens/groups, which shows the scopes and groups that there are, or leave the entry out.',
  REQUEST_OPT_IN_KEY: ({ option, bytes }) =>
    (bytes === 0
      ? `${option} is empty, so it doesn't count as a key: a header that is signed with it turns nothing on. `
      : `${option} has only ${bytes} bytes, so somebody who has seen a signed header can guess it. `) +
    'Take 32 random bytes, such as `openssl rand -base64 32` prints; leave the option out to turn it off.',
  REQUEST_OPT_IN_ALLOW: ({ pending, nearest }) => {
    if (pending === '[]') {
      return 'requestOptIn.allow is empty: no request can turn anything on. Name groups or presets, or leave it out to allow all.';
    }
    const hints = Object.entries(nearest).map(([name, other]) => `Did you mean '${other}' for '${name}'? `);
    return (
      `requestOptIn.allow names ${pending}, and nothing of that name is registered in this process: no request can turn it on. ` +
      `${hints.join('')}Correct it, or import the library that registers it.`
    );
  },
  REQUEST_OPT_IN_IGNORED: ({ problem, requests }) =>
    `A request had the header x-lens-groups, but it turned nothing on: ${OPT_IN_PROBLEMS[problem] ?? problem}. ` +
    `${requests} ${requests === 1 ? 'request' : 'requests'} of that kind so far; this warning is given at most every ten minutes. ` +
    'Sign a new one with `npx nest-lens sign`. If you send no such headers, a stranger is trying them; they do no harm.',
  AUTO_GROUPS_INVALID: ({ option, given, wanted, used }) =>
    `${option} is ${given}, but it takes ${wanted}. ` +
    (used === undefined
      ? 'It is ignored. Correct it, or leave it out.'
      : `'${used}' is used. Write that instead.`),
  AUTO_GROUPS_UNMATCHED: ({ option, name, nearest }) =>
    `${option} names '${name}', and this application has no class of that name: it changes nothing. ` +
    (nearest === undefined ? '' : `Did you mean '${nearest}'? `) +
    'Name a module, or a class that Nest makes an instance of, or leave it out.',
  NO_SHUTDOWN_HOOKS: () =>
    'Nothing in this process listens to SIGTERM, so a container that is stopped ends at once: spans that wait to be exported ' +
    'and spans under way will be lost. Call app.enableShutdownHooks(), so that SIGTERM closes the application.',
  CALLS_BEFORE_SETUP: ({ calls, sites, isInitialised }) =>
    (isInitialised
      ? ''
      : 'The application was created a while ago and has not been initialised, so telemetry is not set up. ') +
    `${calls} ${calls === 1 ? 'call' : 'calls'} came before the set-up and made no span: ${sites}. If messages arrived too early, call ` +
    `await app.init() before startAllMicroservices(). If workers start in an onModuleInit, pass setupAt: 'init', with every ` +
    `registration in NestLensModule.forRoot.`,
  CHANGE_AUTHOR_UNKNOWN: ({ error }) =>
    `introspection.runtimeControl.by could not say who changes span groups: ${error}. The change is made, without an author; ` +
    `this warning is given once. Make it return a string or a number, not a promise: a guard can put the name on the request.`,
  ROOT_MISSING: ({ has }) =>
    'Telemetry is enabled by the environment, but ' +
    (has === 'forFeature'
      ? 'this application calls NestLensModule.forFeature() only, and nothing else has set telemetry up'
      : 'nothing in this process has set telemetry up so far') +
    ': no span group is on. Import NestLensModule.forRoot() in the root module, or disable telemetry.',
  HANDLERS_TRACED_TWICE: () =>
    '@opentelemetry/instrumentation-nestjs-core makes a span for each handler, in addition to those of NestLens. Set ' +
    'OTEL_NODE_DISABLED_INSTRUMENTATIONS=nestjs-core, or leave it out of the instrumentations that you pass.',
  STATE_PROTOCOL_MISMATCH: ({ version, otherKey, otherVersion }) =>
    `NestLens ${version} found the shared state of an incompatible NestLens ${otherVersion} (${otherKey}) in this process. ` +
    `The two don't share span groups: each has its own. Install one version for all libraries.`,
};

/** The sentence of a warning. */
export function messageOf({ code, details }: Warning): string {
  return (MESSAGES[code] as (details: unknown) => string)(quoteDetails(details));
}
