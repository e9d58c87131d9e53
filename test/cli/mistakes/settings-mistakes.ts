import { PACKAGE_FOLDER } from '../../../src/lib/package-folder.ts';
import type { Mistake } from './mistake.ts';

export const SETTINGS_MISTAKES: readonly Mistake[] = [
  {
    title: 'a settings file that is not there',
    argv: ['status', '--config', '/nowhere/settings.yaml'],
    code: 2,
    message: [
      '/nowhere/settings.yaml',
      'is not there',
      `${PACKAGE_FOLDER}/config/default.yaml documents every setting`,
    ],
  },
  {
    title: 'a misspelt plain variable',
    argv: ['status'],
    env: { BMS_TOKN: 'x' },
    code: 2,
    message: ['BMS_TOKN', 'unknown variable', 'did you mean BMS_TOKEN?'],
  },
];
