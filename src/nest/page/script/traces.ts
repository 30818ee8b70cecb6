/** Script of the page: the last traces of the process, and one of them as a waterfall. */
export const TRACES_SCRIPT = String.raw`
const MAX_SHOWN = 200;
/** A longer text, in characters, may need to be scrolled, also by the keyboard. */
const LONG = 300;
let traces = [];

function showTraces() {
  const words = $('trace-filter').value.toLowerCase().split(/\s+/).filter(Boolean);
  const wanted = traces.filter((each) => (!$('only-errors').checked || each.error) && words.every((word) => each.name.toLowerCase().includes(word) || each.traceId.includes(word)));
  if ($('slowest').checked) wanted.sort((a, b) => b.durationMs - a.durationMs);
  const longest = Math.max(0, ...wanted.map((each) => each.durationMs));
  $('no-traces').hidden = wanted.length > 0;
  setText($('no-traces'), traces.length > 0 ? 'No trace matches.' : latest && latest.enabled.length === 0
    ? 'No trace yet, and no group is on: nothing is traced.' : 'No trace yet. Send a request to a handler whose group is on.');
  keyed($('traces'), wanted.slice(0, MAX_SHOWN), (each) => each.traceId, (each) => {
    const link = h('a', { href: '#trace=' + each.traceId }, named(each.name));
    const status = h('span', { class: 'tag' });
    const started = h('span', { class: 'muted when' }, timeOfDay(each.startedAt));
    const amount = h('span', { class: 'muted spans' });
    const meter = h('span', { class: 'meter' });
    const took = h('span', { class: 'figure' });
    const element = h('li', { class: 'trace' }, h('div', { class: 'trace-name' }, link, status), started, amount, h('span', { class: 'track' }, meter), took);
    return {
      element,
      update({ error, spans, durationMs, traceId }) {
        status.className = 'tag ' + (error ? 'bad' : 'good');
        setText(status, error ? 'error' : 'ok');
        setText(amount, count(spans, 'span'));
        setText(took, duration(durationMs));
        meter.style.inlineSize = longest > 0 ? (100 * durationMs) / longest + '%' : '0';
        element.classList.toggle('is-error', error);
        element.classList.toggle('is-shown', shownTrace === traceId);
        if (shownTrace === traceId) link.setAttribute('aria-current', 'true');
        else link.removeAttribute('aria-current');
      },
    };
  });
}

let shownTrace;

async function openTrace(traceId, isMoving) {
  shownTrace = traceId;
  showTraces();
  $('waterfall').hidden = true;
  if (traceId === undefined) return;
  await attempt(async () => {
    const { spans } = await ask('/traces/' + encodeURIComponent(traceId));
    if (shownTrace !== traceId) return;
    $('waterfall').hidden = false;
    drawTrace(traceId, spans);
    if (isMoving) $('waterfall-title').focus();
  });
}

function hue(text) {
  let sum = 7;
  for (const character of text || 'none') sum = (sum * 31 + character.codePointAt(0)) % 9973;
  return (sum * 47) % 300 + 30;
}

function drawTrace(traceId, spans) {
  const starts = spans.map((span) => instant(span.startedAt));
  const from = Math.min(...starts);
  const to = Math.max(...spans.map((span, at) => starts[at] + span.durationMs), from + 0.001);
  const known = traces.find((each) => each.traceId === traceId);
  const failed = spans.filter((span) => span.status.code === 'error').length;
  setAll($('waterfall-title'), named(spans.length > 0 ? spans[0].name : traceId));
  const total = known && known.spans > spans.length ? spans.length + ' of ' + count(known.spans, 'span') : count(spans.length, 'span');
  setAll($('waterfall-facts'), h('b', {}, duration(to - from)), ', ', total, failed > 0 && ', ', failed > 0 && h('span', { class: 'tag bad' }, count(failed, 'error')),
    ', started ', timeOfDay(spans.length > 0 ? spans[0].startedAt : ''), h('span', { class: 'muted id' }, ' trace ', h('code', {}, traceId)));
  setAll($('axis'), [0, 0.25, 0.5, 0.75, 1].map((part) => h('span', {}, duration((to - from) * part))));
  const depths = new Map();
  $('spans').rows = undefined;
  setAll($('spans'), spans.map((span, at) => {
    const depth = depths.has(span.parentSpanId) ? depths.get(span.parentSpanId) + 1 : 0;
    depths.set(span.spanId, depth);
    return spanRow(span, { depth, offset: starts[at] - from, whole: to - from });
  }));
}

/** A time in milliseconds, with microseconds as a fraction, which a Date can't hold. */
function instant(iso) {
  return Date.parse(iso) + Number('0.' + (/\.\d{3}(\d*)Z$/.exec(iso) || ['', '0'])[1]);
}

function spanRow(span, { depth, offset, whole }) {
  const isError = span.status.code === 'error';
  const bar = h('span', { class: 'bar' + (isError ? ' bad' : '') });
  bar.style.insetInlineStart = Math.min(99.6, (100 * offset) / whole) + '%';
  bar.style.inlineSize = Math.max(0.4, Math.min(100 - (100 * offset) / whole, (100 * span.durationMs) / whole)) + '%';
  bar.style.setProperty('--hue', String(hue(span.group)));
  const panel = h('div', { class: 'panel', hidden: true, id: 'span-' + ++ids });
  const label = h('span', { class: 'label' }, named(span.name), span.group && h('bdi', { class: 'of' }, span.group), isError && h('span', { class: 'tag bad' }, 'error'));
  label.style.setProperty('--depth', String(Math.min(depth, 12)));
  const opener = h('button', { type: 'button', class: 'span', 'aria-expanded': 'false', 'aria-controls': panel.id, click: () => toggle(opener, panel, () => fillSpan(span, panel, depth)) },
    label, spoken(' level ' + (depth + 1) + ', starts at ' + duration(offset) + ', takes '), h('span', { class: 'lane' }, bar), h('span', { class: 'figure' }, duration(span.durationMs)));
  return h('li', {}, opener, panel);
}

function valueText(value) {
  return Array.isArray(value) ? value.map(String).join(', ') : String(value);
}

function pairs(attributes) {
  return h('dl', { class: 'pairs attributes' }, Object.entries(attributes).map(([key, value]) => h('div', {}, h('dt', { dir: 'auto' }, key), h('dd', { dir: 'auto', tabindex: valueText(value).length > LONG ? '0' : undefined }, valueText(value)))));
}

function fillSpan(span, panel) {
  const facts = { group: span.group || 'none', kind: span.kind, status: span.status.code + (span.status.message ? ': ' + span.status.message : ''), 'started at': span.startedAt, 'span id': span.spanId };
  setAll(
    panel,
    Object.keys(span.attributes).length > 0 && h('h4', {}, 'Attributes'),
    pairs(span.attributes),
    span.events.map((event) => [
      h('h4', {}, event.name === 'exception' ? 'Exception ' : 'Event ', event.name === 'exception' ? named(String(event.attributes['exception.type'] || '')) : named(event.name)),
      event.name === 'exception' ? exception(event.attributes) : pairs(event.attributes),
    ]).flat(),
    h('h4', {}, 'Span'),
    pairs(facts),
  );
}

function exception(attributes) {
  const { 'exception.type': _type, 'exception.message': message, 'exception.stacktrace': stack, ...others } = attributes;
  return h('div', { class: 'exception' }, h('p', { dir: 'auto' }, String(message || '')), stack && h('pre', { tabindex: '0', 'aria-label': 'Stack trace' }, String(stack)), pairs(others));
}
`;
