/** The style of the page, in light and dark, from a phone's width on. */
export const PAGE_STYLE = `
:root {
  color-scheme: light dark;
  --page: #f4f5f8; --card: #fff; --sunk: #f4f5f8; --line: #dfe3ea; --strong-line: #868fa0;
  --text: #191d27; --muted: #586173; --accent: #4338ca; --on-accent: #fff; --accent-soft: #ebeafc;
  --good: #0b7443; --good-soft: #e0f5ea; --bad: #b3261e; --bad-soft: #fdeceb; --warn: #8a5300; --warn-soft: #fff3dd;
  --bar-lightness: 46%; --shadow: 0 1px 2px rgb(16 24 40 / 6%), 0 4px 16px rgb(16 24 40 / 5%);
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0d1017; --card: #161b25; --sunk: #10141c; --line: #2a3140; --strong-line: #77829a;
    --text: #e7eaf1; --muted: #9ea8ba; --accent: #a5a8ff; --on-accent: #14153a; --accent-soft: #25284d;
    --good: #5bd69b; --good-soft: #12321f; --bad: #ff8f86; --bad-soft: #3c1815; --warn: #f3bd63; --warn-soft: #37290c;
    --bar-lightness: 62%; --shadow: none;
  }
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
html { font: 15px/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif; background: var(--page); color: var(--text); }
body { margin: 0 auto; padding: 0 20px 32px; max-width: 1480px; }
h1, h2, h3, h4, p, ul, ol, dl, dd { margin: 0; padding: 0; }
h1 { font-size: 1.25rem; letter-spacing: -0.01em; } h2 { font-size: 1rem; } h3 { font-size: 1.05rem; } h4 { font-size: 0.85rem; margin-top: 12px; }
.muted { color: var(--muted); } .spoken, .skip:not(:focus) { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
code, pre, .name, .spec, .chip, .route, .attributes dt, .attributes dd { font-family: ui-monospace, 'SF Mono', 'Cascadia Code', Menlo, Consolas, 'DejaVu Sans Mono', monospace; font-size: 0.92em; }
bdi, dd, dt, pre, p { overflow-wrap: anywhere; } bdi { unicode-bidi: isolate; }
.named { display: inline; } .named .name { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3; overflow: hidden; display: inline; }
.name, .chip, .spec { white-space: pre-wrap; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 6px; } main:focus { outline: none; }
button, input, select { font: inherit; color: inherit; }
button { cursor: pointer; background: var(--card); border: 1px solid var(--strong-line); border-radius: 8px; padding: 5px 12px; }
button:hover:not(:disabled) { border-color: var(--accent); color: var(--accent); } button:disabled { cursor: not-allowed; opacity: 0.55; }
button.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); font-weight: 600; } button.primary:hover:not(:disabled) { color: var(--on-accent); filter: brightness(1.08); }
button.small { padding: 2px 10px; font-size: 0.87rem; } button.link { border: 0; background: none; padding: 0; color: var(--accent); text-decoration: underline; text-underline-offset: 2px; }
input:not([type='checkbox']), select { background: var(--card); border: 1px solid var(--strong-line); border-radius: 8px; padding: 5px 10px; min-width: 0; } input::placeholder { color: var(--muted); opacity: 1; }
input[type='search'], #spec { width: 100%; } input[type='checkbox'] { accent-color: var(--accent); width: 16px; height: 16px; }
a { color: var(--accent); }
.skip:focus { position: fixed; inset: 8px auto auto 8px; background: var(--card); padding: 8px 14px; z-index: 2; }
.top { display: flex; flex-wrap: wrap; gap: 8px 16px; justify-content: space-between; align-items: center; padding: 16px 2px 14px; }
.brand, .session { display: flex; gap: 10px; align-items: center; } .brand svg { color: var(--accent); } nav { display: flex; flex-wrap: wrap; gap: 2px 16px; margin-inline-end: auto; padding-inline-start: 10px; font-size: 0.92rem; } nav a { text-decoration: none; } nav a:hover { text-decoration: underline; } section { scroll-margin-top: 12px; }
.pill { border-radius: 99px; padding: 1px 11px; font-size: 0.87rem; font-weight: 600; background: var(--sunk); border: 1px solid var(--line); color: var(--muted); }
.pill.on { color: var(--good); background: var(--good-soft); border-color: transparent; } .pill.off { color: var(--bad); background: var(--bad-soft); border-color: transparent; } .pill.idle { color: var(--warn); background: var(--warn-soft); border-color: transparent; }
.pill.on::before { content: ''; display: inline-block; width: 7px; height: 7px; border-radius: 50%; background: currentColor; margin-inline-end: 6px; vertical-align: 1px; }
main { display: grid; gap: 16px; } .columns { display: grid; gap: 16px; align-items: start; grid-template-columns: minmax(0, 1fr) minmax(280px, 340px); } .side { display: grid; gap: 16px; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 14px; padding: 16px 18px; box-shadow: var(--shadow); min-width: 0; }
.notice { border-inline-start: 4px solid var(--accent); } .notice.bad { border-inline-start-color: var(--bad); background: var(--bad-soft); } .notice.warn { border-inline-start-color: var(--warn); background: var(--warn-soft); } .notice ul { list-style: none; }
.hero { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 14px 36px; align-items: center; }
.hero h2 { font-size: 0.87rem; font-weight: 600; color: var(--muted); } .in-force { font-size: 1.45rem; line-height: 1.3; max-height: 8em; overflow: auto; } .in-force .spec { font-weight: 600; } .in-force .none { color: var(--muted); font-style: italic; }
.ends { display: grid; gap: 2px 12px; grid-template-columns: auto auto; align-items: center; justify-items: start; } .ends .muted { font-size: 0.87rem; } .countdown { grid-row: 2; font-size: 1.9rem; line-height: 1.1; font-weight: 700; font-variant-numeric: tabular-nums; color: var(--accent); } .ends button { grid-row: 2; }
.facts { display: flex; flex-wrap: wrap; gap: 6px 32px; grid-column: 1 / -1; border-top: 1px solid var(--line); padding-top: 10px; } .facts > div { display: flex; gap: 8px; align-items: baseline; } .facts dt { color: var(--muted); font-size: 0.82rem; } .facts dd { font-weight: 600; font-variant-numeric: tabular-nums; } .facts .bad { color: var(--bad); }
.bar-of-tools, .fields { display: flex; flex-wrap: wrap; gap: 8px 12px; align-items: center; } .bar-of-tools { margin-bottom: 12px; } .grow { flex: 1 1 220px; } .fields { flex: 1 1 300px; } .fields .grow { flex-basis: 150px; } .check { display: flex; gap: 6px; align-items: center; }
.controls { background: var(--sunk); border: 1px solid var(--line); border-radius: 10px; padding: 10px 12px; } #control, #preview { flex-basis: 100%; } progress { width: 110px; height: 8px; accent-color: var(--accent); }
.total { background: var(--accent-soft); border-radius: 10px; padding: 8px 12px; margin-bottom: 10px; font-variant-numeric: tabular-nums; }
.plain, .groups, .sites { list-style: none; } .empty { padding: 10px 0; }
.group { display: grid; grid-template-columns: 44px minmax(150px, 1.1fr) minmax(0, 2fr) 190px; gap: 2px 14px; align-items: center; padding: 7px 4px; border-top: 1px solid var(--line); } .group:hover { background: var(--sunk); }
.group .panel, .spans .panel { grid-column: 1 / -1; } .changed { animation: changed 1.6s ease-out; } @keyframes changed { from { background: var(--accent-soft); } }
.switch { width: 42px; height: 24px; padding: 0; border-radius: 99px; background: var(--sunk); border: 2px solid var(--strong-line); position: relative; } .knob { position: absolute; inset-block: 3px; inset-inline-start: 3px; width: 14px; border-radius: 50%; background: var(--strong-line); transition: inset-inline-start 0.15s; }
.switch[aria-checked='true'] { background: var(--good); border-color: var(--good); } .switch[aria-checked='true'] .knob { inset-inline-start: 21px; background: var(--card); }
.light { width: 12px; height: 12px; border-radius: 50%; border: 2px solid var(--strong-line); justify-self: center; } .is-on .light { background: var(--good); border-color: var(--good); }
.what { min-width: 0; display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 10px; } .opener { display: flex; align-items: baseline; border: 0; background: none; padding: 0; text-align: start; font-weight: 600; max-height: 6.2em; overflow: hidden; min-width: 0; } .opener .named { min-width: 0; } .opener::before, .span .label::before { content: ''; display: inline-block; flex: none; border: solid transparent; border-width: 4px 0 4px 6px; border-left-color: currentColor; margin-inline-end: 8px; color: var(--muted); transition: rotate 0.12s; } [aria-expanded='true'].opener::before, .span[aria-expanded='true'] .label::before { rotate: 90deg; }
.owners { color: var(--muted); font-size: 0.82rem; overflow-wrap: anywhere; } .reason { font-size: 0.9rem; color: var(--muted); min-width: 0; } .state { font-weight: 700; } .is-on .state { color: var(--good); }
.chip { display: inline-block; background: var(--sunk); border: 1px solid var(--line); border-radius: 6px; padding: 0 6px; color: var(--text); max-width: 100%; max-height: 3.2em; overflow: hidden; vertical-align: middle; } .is-on .chip { background: var(--good-soft); border-color: transparent; }
.measure { display: grid; grid-template-columns: 1fr 92px; gap: 10px; align-items: center; } .figure { text-align: end; font-variant-numeric: tabular-nums; font-size: 0.87rem; white-space: nowrap; color: var(--muted); grid-column: -2; } .cost:not([hidden]) + .figure { color: var(--text); font-weight: 600; }
.track { display: block; height: 8px; border-radius: 4px; background: var(--line); overflow: hidden; } .meter { display: block; height: 100%; border-radius: 4px; background: var(--accent); transition: inline-size 0.4s; min-inline-size: 2px; }
.panel { background: var(--sunk); border: 1px solid var(--line); border-radius: 10px; padding: 12px 14px; margin: 6px 0 8px; min-width: 0; }
.pairs { display: grid; gap: 4px; } .pairs > div { display: grid; grid-template-columns: minmax(110px, 200px) minmax(0, 1fr); gap: 12px; } .pairs dt { color: var(--muted); font-size: 0.87rem; } .attributes { font-size: 0.92rem; } .attributes > div { grid-template-columns: minmax(110px, 260px) minmax(0, 1fr); border-bottom: 1px solid var(--line); padding-bottom: 3px; } .attributes dd { white-space: pre-wrap; max-height: 16em; overflow: auto; }
.sites { display: grid; gap: 4px; margin-top: 10px; } .sites li { display: flex; flex-wrap: wrap; gap: 2px 14px; border-top: 1px solid var(--line); padding-top: 4px; font-size: 0.92rem; } .sites b { margin-inline-start: auto; } .route { color: var(--accent); }
.side h2 { margin-bottom: 8px; } .side li { padding: 7px 0; border-top: 1px solid var(--line); font-size: 0.92rem; } .side .scrolls { max-height: 340px; } .presets li { display: grid; grid-template-columns: minmax(0, 1fr) auto auto; gap: 10px; align-items: center; } .warnings p { color: var(--muted); font-size: 0.87rem; } .change { display: flex; flex-wrap: wrap; gap: 0 4px; }
.tag { font-size: 0.78rem; font-weight: 700; border-radius: 6px; padding: 0 7px; margin-inline-start: 8px; white-space: nowrap; } .tag:empty { display: none; } .tag.good { color: var(--good); background: var(--good-soft); } .tag.bad { color: var(--bad); background: var(--bad-soft); } .tag.warn { color: var(--warn); background: var(--warn-soft); }
.traces-and-one { display: grid; gap: 18px; grid-template-columns: minmax(0, 1fr); } .traces-and-one:has(.waterfall:not([hidden])) { grid-template-columns: minmax(260px, 1fr) minmax(0, 2.3fr); } .scrolls { max-height: 560px; overflow: auto; min-width: 0; }
.trace { display: grid; grid-template-columns: minmax(0, 2fr) 84px 76px minmax(60px, 1fr) 76px; gap: 4px 14px; align-items: center; padding: 7px 8px; border-top: 1px solid var(--line); } .trace:hover, .trace.is-shown { background: var(--sunk); } .trace.is-shown { box-shadow: inset 3px 0 var(--accent); } .trace a { font-weight: 600; text-decoration: none; } .trace a:hover { text-decoration: underline; } .trace-name { max-height: 4.6em; overflow: hidden; } .trace .muted { font-size: 0.87rem; } .is-error .meter { background: var(--bad); }
.traces-and-one:has(.waterfall:not([hidden])) .trace { grid-template-columns: minmax(0, 1fr) auto; } .traces-and-one:has(.waterfall:not([hidden])) .trace :is(.track, .spans) { display: none; }  .traces-and-one:has(.waterfall:not([hidden])) .when { grid-row: 2; } 
.waterfall { border: 1px solid var(--line); border-radius: 12px; padding: 12px 14px; min-width: 0; } .waterfall-head { display: flex; justify-content: space-between; gap: 12px; align-items: start; } .waterfall-facts { margin: 2px 0 10px; font-size: 0.92rem; } .waterfall-facts .tag { margin: 0; } .id { word-break: break-all; }
.axis-row, .span { display: grid; grid-template-columns: minmax(150px, 42%) minmax(0, 1fr) 72px; gap: 10px; } .axis { grid-column: 2; display: flex; justify-content: space-between; color: var(--muted); font-size: 0.78rem; font-variant-numeric: tabular-nums; border-bottom: 1px solid var(--line); }
.span { width: 100%; border: 0; border-radius: 6px; background: none; padding: 3px 4px; text-align: start; align-items: center; } .span:hover { background: var(--sunk); } .label { display: flex; align-items: baseline; min-width: 0; padding-inline-start: calc(var(--depth) * 12px); max-height: 4.6em; overflow: hidden; } .label .named { min-width: 0; } .label .of { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; min-width: 3em; flex: 0 100 auto; } .label .name { font-size: 0.87rem; } .label .of { color: var(--muted); font-size: 0.78rem; margin-inline-start: 8px; }
.lane { position: relative; height: 16px; background: linear-gradient(90deg, var(--line) 1px, transparent 1px) 0 0 / 25% 100%; } .bar { position: absolute; inset-block: 2px; border-radius: 3px; background: hsl(var(--hue) 62% var(--bar-lightness)); } .bar.bad { background: var(--bad); }
.exception { border-inline-start: 3px solid var(--bad); padding-inline-start: 10px; } pre { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 10px; overflow: auto; max-height: 260px; font-size: 0.82rem; margin: 6px 0; white-space: pre; }
footer { padding: 16px 4px 0; font-size: 0.87rem; } label.wide { flex: 1 1 260px; } label.wide input { width: 100%; }
@media (max-width: 1080px) { .columns, .traces-and-one:has(.waterfall:not([hidden])) { grid-template-columns: minmax(0, 1fr); } .hero { grid-template-columns: minmax(0, 1fr); } .traces-and-one:has(.waterfall:not([hidden])) .scrolls { max-height: 220px; } }
@media (max-width: 680px) {
  body { padding: 0 10px 24px; } .card { padding: 14px 12px; border-radius: 12px; } .group { grid-template-columns: 44px minmax(0, 1fr); padding: 10px 2px; } .switch, .light { grid-row: 1 / 4; align-self: start; } .reason, .measure { grid-column: 2; } .group .panel { grid-column: 1 / -1; }
  .trace { grid-template-columns: minmax(0, 1fr) auto; } .trace :is(.track, .spans) { display: none; } .when { grid-row: 2; } .axis-row, .span { grid-template-columns: minmax(0, 1fr) 70px; } .axis { display: none; } .lane { grid-column: 1 / -1; grid-row: 2; } .span .figure { grid-column: 2; } .pairs > div, .attributes > div { grid-template-columns: minmax(0, 1fr); gap: 0; }
  button, select, input:not([type='checkbox']) { min-height: 36px; } .switch { min-height: 0; } .opener, .span { min-height: 30px; } .presets li { grid-template-columns: minmax(0, 1fr) auto; } .presets .muted { grid-row: 2; grid-column: 1; } .presets button { grid-row: 1 / 3; grid-column: 2; }
}
@media (prefers-reduced-motion: reduce) { *, *::before { animation: none !important; transition: none !important; } }
`;
