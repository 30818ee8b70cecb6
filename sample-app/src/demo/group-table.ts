import type { LensDocument, LensGroup } from './lens-document.js';
import { bold, dim, green } from './palette.js';

/** The groups of several runs side by side: a column a spec, which says what is on, and because of what. */
export function groupTable(runs: Readonly<Record<string, LensDocument>>): string[] {
  const specs = Object.keys(runs);
  const documents = Object.values(runs);
  const header = ['group'.padEnd(16), 'namespaces'.padEnd(17), 'sites'.padEnd(7)];
  const rows = documents[0]!.groups.map(({ name, namespaces, sites }) => {
    const states = documents.map(({ groups }) => state(groups.find((group) => group.name === name)));
    return `${name.padEnd(16)}${namespaces.join(', ').padEnd(17)}${String(sites).padStart(5)}  ${states.join('')}`;
  });
  return [bold(header.join('') + specs.map((spec) => spec.padEnd(24)).join('')), ...rows];
}

function state(group: LensGroup | undefined): string {
  if (!group?.enabled) return dim('off'.padEnd(24));
  return green('on   '.padEnd(5)) + `because ${group.because.join(', ')}`.padEnd(19);
}
