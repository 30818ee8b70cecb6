// Snippets that are tests themselves: importing them adds them to this file. Of docs/testing.md, README.md and docs/libraries.md.
import './snippets/testing.js';
import './snippets/testing-in-short.js';
import './snippets/library-test.js';
