/** Script of the page: makes elements. Texts become text nodes; nothing is ever parsed as markup. */
export const DOM_SCRIPT = String.raw`
const $ = (id) => document.getElementById(id);

/** Characters that are invisible, or that reverse the text after them. */
const HIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/;

function h(tag, props, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(props || {})) {
    if (value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(key, value);
    else element.setAttribute(key, value === true ? '' : String(value));
  }
  element.append(...shown(children));
  return element;
}

function shown(children) {
  return children.flat().filter((child) => child !== undefined && child !== null && child !== false && child !== '');
}

/** A name from elsewhere, kept apart from the direction of the text around it. */
function named(text, kind) {
  const warning = HIDDEN.test(text)
    ? h('span', { class: 'tag warn', title: 'The name has characters that cannot be seen' }, 'hidden characters')
    : undefined;
  return h('span', { class: 'named' }, h('bdi', { class: kind || 'name' }, text), warning);
}

function chip(text, kind) {
  return h('bdi', { class: 'chip ' + (kind || '') }, text);
}

/** A text for screen readers only: for something that others see by its place or colour. */
function spoken(text) {
  return h('span', { class: 'spoken' }, text);
}

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function setAll(element, ...children) {
  element.replaceChildren(...shown(children));
}

/** Keeps the elements of a list by key, so that focus, and what is open, stays while the list changes. */
function keyed(parent, items, keyOf, make) {
  const rows = (parent.rows = parent.rows || new Map());
  const seen = new Set();
  let next = parent.firstChild;
  for (const item of items) {
    const key = keyOf(item);
    seen.add(key);
    if (!rows.has(key)) rows.set(key, make(item));
    const row = rows.get(key);
    row.update(item);
    if (row.element === next) next = next.nextSibling;
    else parent.insertBefore(row.element, next);
  }
  for (const [key, row] of rows) {
    if (seen.has(key)) continue;
    row.element.remove();
    rows.delete(key);
  }
}

function count(number, one, many) {
  return number.toLocaleString('en') + ' ' + (number === 1 ? one : many || one + 's');
}

function duration(ms) {
  if (ms < 1) return Math.round(ms * 1000) + ' µs';
  if (ms < 1000) return (ms < 100 ? ms.toFixed(1) : Math.round(ms)) + ' ms';
  if (ms < 60000) return (ms / 1000).toFixed(2) + ' s';
  return Math.floor(ms / 60000) + ' min ' + Math.round((ms % 60000) / 1000) + ' s';
}

function rate(perSecond) {
  return perSecond >= 100 ? Math.round(perSecond).toLocaleString('en') : String(Number(perSecond.toFixed(perSecond < 1 ? 2 : 1)));
}

function bytes(number) {
  if (number < 1000) return Math.round(number) + ' B';
  return number < 1e6 ? (number / 1e3).toFixed(1) + ' KB' : (number / 1e6).toFixed(1) + ' MB';
}

function clock(ms) {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const two = (number) => String(number).padStart(2, '0');
  const hours = Math.floor(seconds / 3600);
  return (hours > 0 ? hours + ':' + two(Math.floor(seconds / 60) % 60) : Math.floor(seconds / 60)) + ':' + two(seconds % 60);
}

function timeOfDay(iso) {
  const date = new Date(iso);
  return h('time', { datetime: iso, title: iso }, Number.isNaN(date.getTime()) ? iso : date.toLocaleTimeString('en-GB'));
}

function say(text) {
  setText($('said'), text);
}
`;
