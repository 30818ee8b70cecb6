/** Script of the page: changes the spec for a while, and measures what it would cost. */
export const CONTROL_SCRIPT = String.raw`
function entriesOf(spec) {
  return spec.split(',').map((entry) => entry.trim().toLowerCase()).filter(Boolean);
}

/** The spec in force with one group more, or one less. */
function specWith({ spec, enabled, presets }, { name, enabled: isOn, because }) {
  const entries = entriesOf(spec.active);
  if (isOn) {
    const rest = entries.filter((entry) => entry !== name);
    return (because.length === 1 && because[0] === name ? rest : [...rest, '-' + name]).join(',');
  }
  const rest = entries.filter((entry) => entry !== '-' + name);
  const excludes = (entry) => {
    if (!entry.startsWith('-')) return false;
    const pattern = entry.slice(1);
    if ((presets[pattern] || []).includes(name)) return true;
    const parts = pattern.split('*').map((part) => part.replace(/[.*+?^$()|[\]{}\\]/g, '\\$&'));
    return new RegExp('^' + parts.join('.*') + '$').test(name);
  };
  // A group that the spec excludes can't be added by its name. Then the new spec lists the groups one by one.
  return (rest.some(excludes) ? [...enabled, name] : [...rest, name]).join(',');
}

function flip(group) {
  change(specWith(latest, group), named(group.name).textContent + (group.enabled ? ' is off' : ' is on'));
}

function wait() {
  return Number($('ttl').value);
}

async function change(spec, what) {
  await attempt(async () => {
    const response = await sendJson('PUT', '/groups', { spec, ttlSeconds: wait() });
    show(await response.json());
    say((what || 'The spec is ' + spec) + ' for ' + $('ttl').selectedOptions[0].textContent + '.');
  });
}

async function goBack() {
  await attempt(async () => {
    const response = await send('/groups', { method: 'DELETE' });
    show(await response.json());
    say('The configured spec is in force.');
  });
}

/** Shows an error. A screen reader announces it, too. */
async function attempt(work) {
  $('problem').hidden = true;
  try {
    await work();
  } catch (error) {
    if (error.name === 'AbortError') return;
    $('problem').hidden = false;
    setText($('problem-text'), error.isAccess ? 'You may look, but not change or measure: ' + error.message : error.message);
    if (error.isAccess) $('sign-in').hidden = false;
  }
}

let running;

async function preview() {
  if (running) return running.abort();
  running = new AbortController();
  const seconds = Number($('seconds').value);
  setText($('measure'), 'Stop');
  $('progress').hidden = false;
  $('progress').value = 0;
  const started = Date.now();
  const timer = setInterval(() => ($('progress').value = Math.min(1, (Date.now() - started) / 1000 / seconds)), 200);
  say('Measuring for ' + seconds + ' seconds.');
  await attempt(async () => {
    const options = { signal: running.signal, headers: { accept: 'text/event-stream' } };
    const response = await sendJson('POST', '/groups/preview', { seconds, spec: 'all' }, options);
    for await (const { event, data } of events(response)) {
      showMeasured(data, event === 'done');
      if (event === 'done') say('All groups together would make ' + rate(data.perSecond) + ' spans per second.');
    }
  });
  clearInterval(timer);
  running = undefined;
  setText($('measure'), 'Measure');
  $('progress').hidden = true;
}

function showMeasured(result, isDone) {
  measured = new Map(result.groups.map((group) => [group.name, group]));
  busiest = Math.max(0, ...result.groups.map((group) => group.perSecond));
  $('total').hidden = false;
  setAll(
    $('total'),
    'All on: ', h('b', {}, rate(result.perSecond) + ' spans/s'), ', ', h('b', {}, bytes(result.bytesPerSecond) + '/s'), ' exported',
    h('span', { class: 'muted' }, ' (' + count(result.spans, 'span') + ' in ' + Math.round(result.seconds * 10) / 10 + ' s' + (isDone ? '' : ' so far') + ')'),
  );
  showGroups(latest);
}
`;
