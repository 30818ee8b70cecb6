// These snippets of docs/testing.md and README.md are tests themselves: importing them adds them to this file.
import './snippets/testing.js';
import './snippets/testing-in-short.js';
