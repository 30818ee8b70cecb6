import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { findProblems } from '../../scripts/publish.mjs';

// npm takes its time to pack.
vi.setConfig({ testTimeout: 60_000 });

const script = fileURLToPath(new URL('../../scripts/publish.mjs', import.meta.url));

const ready = {
  manifest: { version: '1.2.3', repository: { url: 'git+ssh://git.example.com/lens.git' } },
  changelog: '# Changelog\n\n## Unreleased\n\n## 1.2.3, 2026-11-30\n\n- All of it.\n\n## 1.2.2\n\n- Less.\n',
  status: '',
  tags: ['v1.2.3', ''],
  env: { ACTIONS_ID_TOKEN_REQUEST_URL: 'x' },
  isDryRun: false,
};

describe('what keeps a version from being published', () => {
  it('is nothing when all is in order', () => {
    expect(findProblems(ready)).toEqual([]);
    expect(findProblems({ ...ready, env: {}, isDryRun: true })).toEqual([]);
  });

  it.each<[what: string, change: Partial<typeof ready>, problem: RegExp]>([
    ['a changed file', { status: ' M src/index.ts\n' }, /not committed:\n M src\/index\.ts$/],
    ['a missing tag', { tags: ['v1.2.2'] }, /no tag v1\.2\.3/],
    [
      'a version that the changelog doesn’t have',
      { changelog: '## 1.2.30\n\n- x\n' },
      /no section '## 1\.2\.3'/,
    ],
    [
      'an empty section',
      { changelog: '## 1.2.3\n\n## 1.2.2\n- x\n' },
      /'## 1\.2\.3' of CHANGELOG\.md is empty/,
    ],
    [
      'entries that are not released',
      { changelog: '## Unreleased\n- y\n## 1.2.3\n- x\n' },
      /under 'Unreleased'/,
    ],
    ['a package that is private', { manifest: { ...ready.manifest, private: true } as never }, /is private/],
    ['a package without a repository', { manifest: { version: '1.2.3' } as never }, /no 'repository'/],
    ['a machine that can’t sign', { env: {} as never }, /no OIDC token/],
  ])('is %s', (_what, change, problem) => {
    expect(findProblems({ ...ready, ...change })).toEqual([expect.stringMatching(problem)]);
  });
});

describe('npm run release -- --dry-run', () => {
  const folder = mkdtempSync(join(tmpdir(), 'nest-lens-release-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const git = (...args: string[]): void =>
    void execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
      cwd: folder,
    });
  const release = () => spawnSync(process.execPath, [script, '--dry-run'], { cwd: folder, encoding: 'utf8' });

  it('refuses without a tag, and lists what would be packed with one', () => {
    const manifest = { name: 'lens-release-test', ...ready.manifest, version: '1.2.3-rc.1' };
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
    writeFileSync(join(folder, 'CHANGELOG.md'), ready.changelog.replace('1.2.3,', '1.2.3-rc.1,'));
    git('init', '--quiet');
    git('add', '.');
    git('commit', '--quiet', '--message', 'all');
    const refused = release();
    expect([refused.status, refused.stdout]).toEqual([1, '']);
    expect(refused.stderr).toMatch(
      /^- The commit has no tag v1\.2\.3-rc\.1.*\nlens-release-test .* can't be published\.\n$/,
    );

    git('tag', 'v1.2.3-rc.1');
    const { status, stdout, stderr } = release();
    expect([stderr, status]).toEqual([expect.stringContaining('CHANGELOG.md'), 0]);
    expect(stdout).toContain('npm publish --access public --tag next --dry-run');
  });
});
