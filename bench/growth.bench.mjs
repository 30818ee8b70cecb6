/** How the registry, and the document that explains it, grow: from 10 to 10,000 groups, and from 100 to 10,000 sites. */
import { runProcess } from './processes.mjs';
import { summarise } from './statistics.mjs';

/** @returns {Promise<object>} rows, and the growth between the sizes that the limits are about */
export async function runGrowth({ short = false } = {}) {
  const { registry, document } = await runProcess('growth.process.mjs', { short });
  const rows = (measured) =>
    measured.map(({ ns, ...row }) => ({ ...row, us: summarise(ns.map((n) => n / 1_000)) }));
  // The fastest round: a collection of the whole heap that falls into one is no property of the registry.
  const timeOf = (what, groups, namespaces) =>
    Math.min(
      ...registry.find((row) => row.what === what && row.groups === groups && row.namespaces === namespaces)
        .ns,
    );
  const whats = [...new Set(registry.map(({ what }) => what))];
  const registers = (what) => what.startsWith('register');
  const documentOf = (what, sites) =>
    Math.min(...document.find((row) => row.what === what && row.sites === sites && row.groups === 20).ns);
  return {
    registry: rows(registry),
    document: rows(document),
    // One after the other, each of them resolved, judged and reported. Then what one answer takes as the registry grows.
    registrations: whats.filter(registers).map((what) => ({ what, ms: timeOf(what, 1_000, 100) / 1e6 })),
    factors: whats
      .filter((what) => !registers(what))
      .map((what) => ({ what, factor: timeOf(what, 10_000, 100) / timeOf(what, 100, 10) })),
    documentFactors: [...new Set(document.map(({ what }) => what))].map((what) => ({
      what,
      factor: documentOf(what, 10_000) / documentOf(what, 100),
    })),
  };
}
