/** Script of the page: the spec in force, its end, its entries that match nothing; presets, changes, warnings. */
export const SPEC_SCRIPT = String.raw`
function showTelemetry({ telemetry, groups, enabled }) {
  const { mode, exporting, spansExported, spansLost, lastExportAt } = telemetry;
  const state = !telemetry.enabled ? ['off', 'Telemetry is off'] : exporting ? ['on', 'Exporting'] : ['idle', 'On, nothing is exported'];
  $('telemetry').className = 'pill ' + state[0];
  setText($('telemetry'), state[1]);
  const facts = [
    ['Groups on', enabled.length + ' of ' + groups.length],
    mode && ['SDK', mode === 'own' ? 'started by NestLens' : 'started by the application'],
    spansExported !== undefined && ['Spans exported', spansExported.toLocaleString('en')],
    spansLost !== undefined && ['Spans lost', spansLost.toLocaleString('en'), spansLost > 0 ? 'bad' : ''],
    lastExportAt && ['Last export', timeOfDay(lastExportAt)],
  ];
  setAll($('facts'), facts.filter(Boolean).map(([term, value, kind]) => h('div', {}, h('dt', {}, term), h('dd', { class: kind }, value))));
}

let expiresAt;

function by(source) {
  return source === 'default' ? ['because nothing else is set.'] : ['by ', h('b', {}, source), '.'];
}

function showSpec({ spec, telemetry }) {
  const { override } = spec;
  const inForce = spec.pinned ? 'pinned' : spec.active === '' ? 'empty' : spec.active;
  if (inForce.length > LONG) $('in-force').tabIndex = 0;
  else $('in-force').removeAttribute('tabindex');
  setAll($('in-force'), named(inForce, spec.pinned || spec.active === '' ? 'none' : 'spec'));
  const why = !telemetry.enabled
    ? 'Telemetry is disabled in this process, so every group is off.'
    : spec.pinned
      ? 'The groups are pinned: code has set them as a list, so no spec applies.'
      : override
        ? ['An override. Configured is ', named(spec.configured, 'spec'), ', ', ...by(spec.source)]
        : ['As configured, ', ...by(spec.source)];
  setAll($('why'), why);
  expiresAt = override && override.expiresAt ? Date.parse(override.expiresAt) : undefined;
  $('ends').hidden = !override;
  $('back').hidden = !override || !can.control;
  tick();
}

/** Shows how long the override still lasts. Called each second. */
function tick() {
  if ($('ends').hidden) return;
  const left = expiresAt === undefined ? undefined : expiresAt - Date.now() - clockOffset;
  setText($('countdown'), left === undefined ? 'no end' : clock(left));
  if (left === undefined || left > 0) return;
  expiresAt = undefined;
  refresh();
}

const nearest = new Map();

async function lookUp(entry) {
  nearest.set(entry, []);
  try {
    await ask('/groups/' + encodeURIComponent(entry.replace(/^-/, '')));
  } catch (error) {
    if (!error.body || !Array.isArray(error.body.nearest)) return;
    nearest.set(entry, error.body.nearest);
    if (latest) showPending(latest);
  }
}

function showPending({ pending, spec }) {
  $('pending').hidden = pending.length === 0;
  for (const entry of pending.slice(0, 10)) if (!nearest.has(entry)) lookUp(entry);
  const suggest = (entry, name) => {
    const fixed = (entry.startsWith('-') ? '-' : '') + name;
    const entries = entriesOf(spec.active).map((each) => (each === entry ? fixed : each));
    return can.control
      ? h('button', { type: 'button', class: 'link', click: () => change(entries.join(',')) }, named(name))
      : named(name);
  };
  setAll(
    $('pending-list'),
    pending.map((entry) => {
      const names = nearest.get(entry) || [];
      return h('li', {}, named(entry), ' matches no registered group or preset. ', names.length > 0 && 'Did you mean ',
        names.map((name, at) => [at > 0 && ' or ', suggest(entry, name)]).flat(), names.length > 0 && '?');
    }),
  );
}

function showPresets({ presets, groups }) {
  // A row is made once and used for later documents, so its listener has to look up which groups are on.
  $('presets').on = new Set(groups.filter((group) => group.enabled).map((group) => group.name));
  keyed($('presets'), Object.entries(presets), ([name]) => name, ([name]) => {
    const amount = h('span', { class: 'muted' });
    const use = can.control && h('button', { type: 'button', class: 'small needs-control', click: () => change(name) }, 'Use', spoken(' preset ' + name));
    const element = h('li', {}, named(name), amount, use);
    return {
      element,
      update([, members]) {
        setText(amount, members.filter((each) => $('presets').on.has(each)).length + ' of ' + count(members.length, 'group') + ' on');
        element.title = members.slice(0, 50).join(', ');
      },
    };
  });
}

function showChanges({ changes = [] }) {
  const newest = changes.map((each, at) => ({ ...each, at_: Date.parse(each.at), nth: at })).sort((a, b) => b.at_ - a.at_ || b.nth - a.nth);
  $('no-changes').hidden = newest.length > 0;
  keyed($('changes'), newest.slice(0, 50), (each) => each.nth + each.at, (each) => ({
    element: h('li', {},
      h('div', {}, timeOfDay(each.at), each.by && h('span', { class: 'muted' }, ' by ', named(String(each.by), 'who'))),
      h('div', { class: 'change' }, named(each.before || 'empty', 'spec'), h('span', { 'aria-hidden': 'true' }, ' → '), spoken(' to '), named(each.after || 'empty', 'spec'),
        each.until && h('span', { class: 'muted' }, ' until ', timeOfDay(each.until)))),
    update() {},
  }));
}

function showWarnings({ warnings }) {
  $('no-warnings').hidden = warnings.length > 0;
  setText($('warnings-count'), warnings.length > 0 ? String(warnings.length) : '');
  const newest = warnings.map((each, at) => ({ ...each, key: at + each.at + each.code })).reverse();
  keyed($('warnings'), newest, (each) => each.key, (each) => ({
    element: h('li', {}, h('div', {}, h('code', {}, each.code), ' ', h('span', { class: 'muted' }, timeOfDay(each.at))), h('p', { dir: 'auto' }, each.message)),
    update() {},
  }));
}
`;
