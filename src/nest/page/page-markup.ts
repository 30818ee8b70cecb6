/** The page before any data: the places that its script fills. It holds no data of the process. */
export const PAGE_MARKUP = `
<a class="skip" href="#main">Skip to the groups</a>
<header class="top">
  <div class="brand">
    <svg viewBox="0 0 32 32" width="30" height="30" aria-hidden="true"><circle cx="14" cy="14" r="10.5" fill="none" stroke="currentColor" stroke-width="3"/><path d="m22 22 7 7" stroke="currentColor" stroke-width="3.6" stroke-linecap="round"/><path d="M8.5 10.5h8M10.5 14h9M8.5 17.5h5" stroke="currentColor" stroke-width="2.2" stroke-linecap="round"/></svg>
    <h1>NestLens</h1>
    <span id="telemetry" class="pill">…</span>
  </div>
  <nav aria-label="Parts of the page">
    <a href="#groups-title">Groups</a><a href="#traces-title" data-needs="traces">Traces</a><a href="#changes-title">Changes</a><a href="#warnings-title">Warnings</a>
  </nav>
  <div class="session">
    <span id="status" class="pill" role="status">connecting</span>
    <button id="live" type="button" class="small" aria-pressed="true">Pause</button>
  </div>
</header>
<noscript><p class="card notice">This page needs JavaScript. GET …/groups has the same data as JSON.</p></noscript>
<main id="main" tabindex="-1">
  <form id="sign-in" class="card notice" hidden>
    <h2>Sign in</h2>
    <p id="sign-in-why"></p>
    <div class="fields">
      <label>Header <input id="header" autocomplete="off" spellcheck="false" value="Authorization"></label>
      <label class="wide">Token <input id="token" type="password" autocomplete="off" spellcheck="false" placeholder="sent as: Bearer …"></label>
      <button type="submit" class="primary">Sign in</button>
    </div>
    <p class="muted">The token is kept for this tab only, and sent to this process only.</p>
  </form>
  <div id="problem" class="card notice bad" role="alert" hidden>
    <span id="problem-text"></span> <button id="problem-close" type="button" class="small">Close</button>
  </div>

  <section class="card hero" aria-labelledby="spec-title">
    <div class="hero-spec">
      <h2 id="spec-title">Spec in force</h2>
      <p id="in-force" class="in-force">…</p>
      <p id="why" class="muted"></p>
    </div>
    <div id="ends" class="ends" hidden>
      <span class="muted">ends in</span> <span id="countdown" class="countdown" role="timer">–</span>
      <button id="back" type="button" class="needs-control" hidden>End it now</button>
    </div>
    <dl id="facts" class="facts"></dl>
  </section>

  <section id="pending" class="card notice warn" aria-labelledby="pending-title" hidden>
    <h2 id="pending-title">Pending</h2>
    <ul id="pending-list"></ul>
  </section>

  <div class="columns">
    <section class="card" aria-labelledby="groups-title">
      <div class="bar-of-tools">
        <h2 id="groups-title">Span groups</h2>
        <span id="shown" class="muted" role="status"></span>
        <label class="grow"><span class="spoken">Filter groups</span><input id="filter" type="search" placeholder="Filter: a name, a preset, an owner, on, off" autocomplete="off" spellcheck="false"></label>
      </div>
      <div class="bar-of-tools controls" data-needs="control">
        <form id="control" class="fields">
          <label>A change lasts <select id="ttl"><option value="300">5 minutes</option><option value="900" selected>15 minutes</option><option value="3600">1 hour</option><option value="14400">4 hours</option></select></label>
          <label class="grow"><span class="spoken">Spec</span><input id="spec" required autocomplete="off" spellcheck="false" maxlength="1000" placeholder="a spec: default,db_query"></label>
          <button type="submit" class="needs-control">Apply</button>
        </form>
        <form id="preview" class="fields">
          <label>What would it cost? <select id="seconds"><option value="10">10 s</option><option value="30">30 s</option><option value="60">60 s</option></select></label>
          <button id="measure" type="submit" class="primary needs-control">Measure</button>
          <progress id="progress" max="1" value="0" aria-label="Measuring" hidden></progress>
        </form>
      </div>
      <p id="total" class="total" hidden></p>
      <ul id="groups" class="groups"></ul>
      <p id="no-groups" class="muted empty" hidden></p>
    </section>
    <div class="side">
      <section class="card" aria-labelledby="presets-title">
        <h2 id="presets-title">Presets</h2>
        <ul id="presets" class="plain presets"></ul>
      </section>
      <section class="card" aria-labelledby="changes-title">
        <h2 id="changes-title">Last changes</h2>
        <div class="scrolls" role="region" aria-label="List of changes" tabindex="0"><ul id="changes" class="plain"></ul></div>
        <p id="no-changes" class="muted">No changes since telemetry was set up.</p>
      </section>
      <section class="card" aria-labelledby="warnings-title">
        <h2 id="warnings-title">Warnings <span id="warnings-count" class="tag warn"></span></h2>
        <div class="scrolls" role="region" aria-label="List of warnings" tabindex="0"><ul id="warnings" class="plain warnings"></ul></div>
        <p id="no-warnings" class="muted">None.</p>
      </section>
    </div>
  </div>

  <section class="card" aria-labelledby="traces-title" data-needs="traces">
    <div class="bar-of-tools">
      <h2 id="traces-title">Recent traces</h2>
      <label class="grow"><span class="spoken">Filter traces</span><input id="trace-filter" type="search" placeholder="Filter: a name, a trace id" autocomplete="off" spellcheck="false"></label>
      <label class="check"><input id="only-errors" type="checkbox"> Errors only</label>
      <label class="check"><input id="slowest" type="checkbox"> Slowest first</label>
    </div>
    <div class="traces-and-one">
      <div class="scrolls" role="region" aria-label="List of traces" tabindex="0"><ul id="traces" class="plain traces"></ul><p id="no-traces" class="muted empty"></p></div>
      <section id="waterfall" class="waterfall" aria-labelledby="waterfall-title" hidden>
        <div class="waterfall-head"><h3 id="waterfall-title" tabindex="-1"></h3><button id="close-trace" type="button" class="small">Close</button></div>
        <p id="waterfall-facts" class="waterfall-facts"></p>
        <div class="axis-row" aria-hidden="true"><div id="axis" class="axis"></div></div>
        <ol id="spans" class="plain spans"></ol>
      </section>
    </div>
  </section>
</main>
<footer class="muted">This process only. <span data-needs="control">Every change ends by itself.</span></footer>
<div id="said" class="spoken" role="status"></div>
`;
