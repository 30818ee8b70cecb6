// Snippets that are tests themselves: importing them adds them to this file. Of docs/testing.md, README.md and docs/libraries.md.
// The one for node:test is run by test/testing/test-runners.spec.ts.
import { vi } from 'vitest';
import './snippets/testing.js';
import './snippets/testing-in-short.js';
import './snippets/testing-own-exporter.js';
import './snippets/library-test.js';

// The SDK is loaded in the first test that needs it.
vi.setConfig({ testTimeout: 30_000 });
