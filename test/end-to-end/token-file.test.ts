import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { canary } from '../support/canary.ts';
import { kindIn, run } from '../support/command-line.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { serveBeside, setScene } from './outbound-scene.ts';

test('a token that its file has by now is used once the former one is refused', async () => {
  const token = canary('-the-token-of-today');
  const scene = await setScene(onTestFinished, { size: 3, token });
  const file = join(tempFolder(), 'token');
  writeFileSync(file, canary('-the-token-of-yesterday'));
  const env = { ...scene.env, BMS_TOKEN: '', BMS_TOKEN_FILE: file };
  const { child, ended } = await serveBeside(onTestFinished, env);
  const pull = async (): Promise<unknown> =>
    kindIn(await run(['pull', 'clients', '--json'], scene.env), 'clients'); // serve works it.

  expect(await pull()).toMatchObject({ state: 'aborted', reason: 'unauthorized' });
  writeFileSync(file, 'two words');
  expect(await pull()).toMatchObject({ state: 'aborted', reason: 'unauthorized' });
  writeFileSync(file, `${token}\n`);
  expect(await pull()).toMatchObject({ state: 'certified' });

  child.kill('SIGTERM');
  const { stderr } = await ended;
  expect(stderr).toContain('"source.token_file"');
});
