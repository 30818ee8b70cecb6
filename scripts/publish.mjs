// Publishes the version in package.json, with provenance: npm then shows from which commit and by which run it was built.
//
//   npm run release                checks, then `npm publish`
//   npm run release -- --dry-run   checks, and lists what would be packed; publishes nothing
//
// It runs where provenance can be signed: in a CI that gives its jobs an OIDC token (GitHub Actions, GitLab).
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Where npm finds a token with which provenance is signed; without one of them it refuses. */
const OIDC_VARIABLES = ['ACTIONS_ID_TOKEN_REQUEST_URL', 'SIGSTORE_ID_TOKEN'];

/**
 * What keeps a version from being published: each a sentence that says what to do. Empty when nothing does.
 *
 * @param {object} facts
 * @param {{ version: string, private?: boolean, repository?: unknown }} facts.manifest
 * @param {string} facts.changelog
 * @param {string} facts.status what `git status --porcelain` says
 * @param {string[]} facts.tags the tags of the commit that is checked out
 * @param {Record<string, string | undefined>} facts.env
 * @param {boolean} facts.isDryRun
 */
export function findProblems({ manifest, changelog, status, tags, env, isDryRun }) {
  const { version } = manifest;
  const tag = `v${version}`;
  const section = sectionOf(changelog, version);
  const hasToken = OIDC_VARIABLES.some((name) => env[name]);
  return [
    status.trim() !== '' && `There are changes that are not committed:\n${status.trimEnd()}`,
    !tags.includes(tag) && `The commit has no tag ${tag}: git tag -s ${tag}`,
    section === undefined &&
      `CHANGELOG.md has no section '## ${version}'. Rename 'Unreleased', and give it the date.`,
    section?.trim() === '' && `The section '## ${version}' of CHANGELOG.md is empty.`,
    (sectionOf(changelog, 'Unreleased') ?? '').trim() !== '' &&
      "CHANGELOG.md has entries under 'Unreleased'. They belong to this version, or to another commit.",
    manifest.private === true && 'package.json says that the package is private.',
    !manifest.repository &&
      "package.json has no 'repository'. npm compares it with where the build ran, and refuses provenance without it.",
    !isDryRun &&
      !hasToken &&
      'There is no OIDC token to sign provenance with. Publish from CI, with the permission id-token: write.',
  ].filter((problem) => problem !== false && problem !== undefined);
}

/** The text under a heading of the second level that begins with a name; undefined if there is none. */
function sectionOf(markdown, name) {
  const sections = markdown.split(/^## /m).slice(1);
  const found = sections.find((section) => section.split(/[\s,:]/, 1)[0] === name);
  return found?.replace(/^.*\n?/, '');
}

const git = (...args) => execFileSync('git', args, { encoding: 'utf8' });

function run() {
  const isDryRun = process.argv.includes('--dry-run');
  const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
  const problems = findProblems({
    manifest,
    changelog: readFileSync('CHANGELOG.md', 'utf8'),
    status: git('status', '--porcelain'),
    tags: git('tag', '--points-at', 'HEAD').split('\n'),
    env: process.env,
    isDryRun,
  });
  for (const problem of problems) console.error(`- ${problem}`);
  if (problems.length > 0) {
    console.error(`${manifest.name} ${manifest.version} can't be published.`);
    return 1;
  }
  // A version with a suffix, such as 1.0.0-rc.1, must not become what `npm install` gives everybody.
  const tag = manifest.version.includes('-') ? 'next' : 'latest';
  const args = ['publish', '--access', 'public', '--tag', tag, isDryRun ? '--dry-run' : '--provenance'];
  console.log(`npm ${args.join(' ')}`);
  return spawnSync('npm', args, { stdio: 'inherit', shell: process.platform === 'win32' }).status ?? 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = run();
