import { watchFiles } from './watch-files.ts';
import { watchConsole } from './watch-logs.ts';
import { watchPrograms } from './watch-programs.ts';
import { watchAnswersOfOthers } from './watch-sockets.ts';

// Loaded once in a worker, however many files that runs: what is wrapped here would be wrapped again by each of them.
watchPrograms();
watchFiles();
watchConsole();
watchAnswersOfOthers();
