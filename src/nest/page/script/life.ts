/** Script of the page: everything that happens after it was opened. */
export const LIFE_SCRIPT = String.raw`
const EVERY_MS = 3000;
/** The last document. */
let latest;
let timer;
let round = 0;

function show(report) {
  latest = report;
  showTelemetry(report);
  showSpec(report);
  showPending(report);
  showPresets(report);
  showChanges(report);
  showWarnings(report);
  showGroups(report);
  document.body.classList.add('is-ready');
}

async function refresh() {
  clearTimeout(timer);
  const mine = ++round;
  try {
    const report = await ask('/groups');
    if (mine !== round) return;
    show(report);
    if (can.traces) {
      traces = (await ask('/traces')).traces;
      showTraces();
    }
    setStatus('good', 'live');
    $('sign-in').hidden = true;
  } catch (error) {
    if (mine !== round) return;
    if (error.isAccess) askForAccess(error);
    else setStatus('bad', error instanceof Refusal ? error.message : 'The process does not answer.');
  }
  if (mine === round && $('live').getAttribute('aria-pressed') === 'true' && !document.hidden) timer = setTimeout(refresh, EVERY_MS);
}

function setStatus(kind, text) {
  $('status').className = 'pill ' + (kind === 'good' ? 'on' : 'off');
  setText($('status'), text);
}

function askForAccess(error) {
  $('sign-in').hidden = false;
  setStatus('bad', error.status === 401 ? 'not signed in' : 'not allowed');
  setText($('sign-in-why'), Object.keys(access).length > 0 ? 'A guard refused this token: ' + error.message : 'A guard refused the request: ' + error.message);
}

function followHash(isMoving) {
  // A visitor without access sees why, and comes back with a token.
  if (!can.traces || latest === undefined) return;
  const found = /^#trace=([\w-]+)$/.exec(location.hash);
  openTrace(found ? found[1] : undefined, isMoving);
}

for (const part of document.querySelectorAll('[data-needs]')) {
  part.hidden = !can[part.dataset.needs];
}
$('filter').addEventListener('input', () => latest && showGroups(latest));
for (const id of ['trace-filter', 'only-errors', 'slowest']) $(id).addEventListener('input', showTraces);
$('sign-in').addEventListener('submit', (event) => {
  event.preventDefault();
  useAccess($('header').value.trim() || 'Authorization', $('token').value.trim());
  $('token').value = '';
  refresh().then(() => followHash(true));
});
$('control').addEventListener('submit', (event) => {
  event.preventDefault();
  change($('spec').value.trim());
});
$('preview').addEventListener('submit', (event) => {
  event.preventDefault();
  preview();
});
$('back').addEventListener('click', goBack);
$('close-trace').addEventListener('click', () => {
  const link = $('traces').querySelector('[aria-current]');
  location.hash = '';
  if (link) link.focus();
});
$('problem-close').addEventListener('click', () => ($('problem').hidden = true));
$('live').addEventListener('click', () => {
  const isLive = $('live').getAttribute('aria-pressed') !== 'true';
  $('live').setAttribute('aria-pressed', String(isLive));
  setText($('live'), isLive ? 'Pause' : 'Resume');
  if (isLive) refresh();
  else setStatus('bad', 'paused');
});
document.addEventListener('visibilitychange', () => {
  if (!document.hidden && $('live').getAttribute('aria-pressed') === 'true') refresh();
});
addEventListener('hashchange', () => followHash(true));
setInterval(tick, 500);
refresh().then(() => followHash(false));
`;
