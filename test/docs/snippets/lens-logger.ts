// #region lens-logger
import { setLensLogger } from 'nest-lens';

setLensLogger({
  warn: (message, { code }) => console.log(JSON.stringify({ level: 'warn', code, message })),
});
// #endregion
