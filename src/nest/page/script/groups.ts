/** Script of the page: the groups, each with its switch, the reason why it is on or off, its cost and its sites. */
export const GROUPS_SCRIPT = String.raw`
/** What the last preview has measured, by group. */
let measured = new Map();
let busiest = 0;

function matches(group, words) {
  const texts = [group.name, ...group.presets, ...group.namespaces, group.enabled ? 'on' : 'off'].map((text) => text.toLowerCase());
  return words.every((word) => texts.some((text) => text.includes(word)));
}

function showGroups(report) {
  const words = $('filter').value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = report.groups.filter((group) => matches(group, words));
  $('no-groups').hidden = found.length > 0;
  setText($('no-groups'), report.groups.length === 0 ? 'No span group is registered in this process.' : 'No group matches the filter.');
  setText($('shown'), found.length === report.groups.length ? count(found.length, 'group') : found.length + ' of ' + count(report.groups.length, 'group'));
  const isFixed = !report.telemetry.enabled || report.spec.pinned;
  keyed($('groups'), found, (group) => group.name, (group) => groupRow(group, isFixed));
  for (const button of document.querySelectorAll('.needs-control')) button.disabled = isFixed;
}

function groupRow({ name }) {
  const id = 'group-' + ++ids;
  let group;
  let isOn;
  const light = can.control
    ? h('button', { type: 'button', role: 'switch', class: 'switch needs-control', 'aria-checked': 'false', 'aria-labelledby': id, click: () => flip(group) }, h('span', { class: 'knob' }))
    : h('span', { class: 'light' });
  const state = h('span', { class: 'state' });
  const why = h('span', { class: 'why' });
  const panel = h('div', { class: 'panel', id: id + '-panel', hidden: true });
  const owners = h('span', { class: 'owners' });
  const opener = h('button', { type: 'button', class: 'opener', id, 'aria-expanded': 'false', 'aria-controls': id + '-panel', click: () => toggle(opener, panel, () => showGroup(group, panel)) }, named(name));
  const meter = h('span', { class: 'meter' });
  const cost = h('span', { class: 'cost' }, h('span', { class: 'track' }, meter));
  const figure = h('span', { class: 'figure' });
  const element = h('li', { class: 'group' }, light, h('div', { class: 'what' }, opener, owners), h('div', { class: 'reason' }, state, why), h('div', { class: 'measure' }, cost, figure), panel);
  return {
    element,
    update(given) {
      group = given;
      element.classList.toggle('is-on', group.enabled);
      if (can.control) light.setAttribute('aria-checked', String(group.enabled));
      if (isOn !== undefined && isOn !== group.enabled) {
        element.classList.remove('changed');
        requestAnimationFrame(() => element.classList.add('changed'));
      }
      isOn = group.enabled;
      setText(state, group.enabled ? 'on' : 'off');
      setText(owners, [...new Set([...group.namespaces, group.kind].filter(Boolean))].join(', '));
      const because = group.enabled ? group.because : group.presets;
      const key = JSON.stringify(because) + group.enabled;
      if (why.key !== key) {
        why.key = key;
        const lead = group.enabled ? (because.length > 0 ? ' because of ' : ' because the groups are pinned') : because.length > 0 ? '; would be turned on by ' : '; in no preset';
        setAll(why, lead, because.slice(0, 4).map((entry, at) => [at > 0 && ' ', chip(entry)]).flat(), because.length > 4 && ' and ' + (because.length - 4) + ' more');
      }
      const found = measured.get(name);
      cost.hidden = found === undefined;
      meter.style.inlineSize = found === undefined || busiest === 0 ? '0' : (100 * found.perSecond) / busiest + '%';
      setText(figure, found === undefined ? count(group.sites, 'site') : rate(found.perSecond) + ' spans/s');
      if (found !== undefined && !panel.hidden) showGroup(group, panel);
    },
  };
}

let ids = 0;

function toggle(opener, panel, fill) {
  panel.hidden = !panel.hidden;
  opener.setAttribute('aria-expanded', String(!panel.hidden));
  if (!panel.hidden) fill();
}

const details = new Map();

async function showGroup(group, panel) {
  const known = details.get(group.name);
  fillPanel(group, panel, known);
  if (known !== undefined) return;
  try {
    const report = await ask('/groups/' + encodeURIComponent(group.name));
    details.set(group.name, report);
    fillPanel(group, panel, report);
  } catch {
    fillPanel(group, panel, { turnedOnBy: [group.name, ...group.presets, 'all'] });
  }
}

function fillPanel(group, panel, report) {
  const found = measured.get(group.name);
  const counts = new Map(((found && found.sites) || []).map((site) => [site.name, site.spans]));
  const sites = ((report && report.siteList) || []).slice();
  const names = new Set(sites.map((site) => site.name));
  for (const [name] of counts) if (!names.has(name)) sites.push({ name, kind: 'block' });
  sites.sort((a, b) => (counts.get(b.name) || 0) - (counts.get(a.name) || 0));
  const facts = [
    group.scope && ['Instrumentation', h('bdi', {}, group.scope + (group.version ? ' ' + group.version : ''))],
    report && ['Turned on by', report.turnedOnBy.map((entry, at) => [at > 0 && ' ', chip(entry)]).flat()],
    ['Presets', group.presets.length > 0 ? group.presets.map((entry, at) => [at > 0 && ' ', chip(entry)]).flat() : 'none'],
    ['Registered by', named(group.namespaces.join(', '))],
  ];
  setAll(
    panel,
    h('dl', { class: 'pairs' }, facts.filter(Boolean).map(([term, value]) => h('div', {}, h('dt', {}, term), h('dd', {}, value)))),
    sites.length > 0
      ? h('ul', { class: 'sites' }, sites.map((site) => h('li', {}, named(site.name), site.route && h('bdi', { class: 'route' }, site.route), h('span', { class: 'muted' }, [site.kind, site.type].filter(Boolean).join(', ')),
          counts.has(site.name) && h('b', {}, count(counts.get(site.name), 'span')))))
      : h('p', { class: 'muted' }, report === undefined ? 'Loading its sites…' : 'No decorated method is in this group. Blocks and functions cannot be listed.'),
  );
}
`;
