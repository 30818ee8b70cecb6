// The public API of each entry, as reports in etc/ that are reviewed as a diff.
//
//   node scripts/api-report.mjs            fails when a report differs from the code (needs a build)
//   node scripts/api-report.mjs --update   rewrites the reports
import { mkdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  Extractor,
  ExtractorConfig,
  ExtractorLogLevel,
  ExtractorMessageCategory,
} from '@microsoft/api-extractor';

const projectFolder = fileURLToPath(new URL('..', import.meta.url)).replace(/[/\\]$/, '');
const ENTRIES = ['index', 'core', 'fallbacks', 'testing', 'register', 'eslint'];

// Findings go into the report, beside the declaration that they are about; any of them fails the run.
const asFinding = { logLevel: 'warning', addToApiReportFile: true };
const asError = { logLevel: 'error', addToApiReportFile: false };
const silent = { logLevel: 'none', addToApiReportFile: false };

function prepareConfig(entry) {
  return ExtractorConfig.prepare({
    configObjectFullPath: `${projectFolder}/etc/${entry}.json`,
    packageJsonFullPath: `${projectFolder}/package.json`,
    configObject: {
      projectFolder,
      mainEntryPointFilePath: `${projectFolder}/dist/esm/${entry}.d.ts`,
      compiler: { tsconfigFilePath: `${projectFolder}/tsconfig.build.json`, skipLibCheck: true },
      apiReport: {
        enabled: true,
        reportFileName: `${entry}.api.md`,
        reportFolder: `${projectFolder}/etc`,
        reportTempFolder: `${projectFolder}/temp`,
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      newlineKind: 'lf',
      messages: {
        compilerMessageReporting: { default: asError },
        extractorMessageReporting: {
          default: asFinding,
          // Everything that an entry exports is public; a tag on each would say nothing.
          'ae-missing-release-tag': silent,
          // The types of ESLint, which `nest-lens/eslint` names, come in a `.d.cts`.
          'ae-wrong-input-file-type': silent,
        },
        // Docstrings are read in editors, which do not ask for TSDoc's escapes and hyphens.
        tsdocMessageReporting: { default: silent },
      },
    },
  });
}

/** The lines of a report that complain: an export without a docstring, a type that the entry forgot to export. */
const findFindings = (report) =>
  readFileSync(report, 'utf8')
    .split('\n')
    .filter((line) => /^\s*\/\/ .*\(ae-[a-z-]+\)/.test(line));

const isUpdate = process.argv.includes('--update');
for (const folder of ['etc', 'temp']) mkdirSync(`${projectFolder}/${folder}`, { recursive: true });
for (const entry of ENTRIES) {
  const report = `etc/${entry}.api.md`;
  const result = Extractor.invoke(prepareConfig(entry), {
    localBuild: isUpdate,
    // Only errors are worth a line; findings and a changed report are told below, once, and what to do about them.
    messageCallback: (message) => {
      const isNoise =
        message.category === ExtractorMessageCategory.Console || message.logLevel !== ExtractorLogLevel.Error;
      if (isNoise) message.handled = true;
    },
  });
  const findings = findFindings(`${projectFolder}/temp/${entry}.api.md`);
  if (findings.length > 0) {
    console.error(`The public API of ${entry} has findings:\n${findings.join('\n')}`);
    process.exitCode = 1;
  }
  if (result.errorCount > 0) process.exitCode = 1;
  if (!result.apiReportChanged) continue;
  if (isUpdate) console.log(`${report} updated`);
  else {
    console.error(`${report} differs from the code: run \`npm run api\` and review the diff.`);
    process.exitCode = 1;
  }
}
