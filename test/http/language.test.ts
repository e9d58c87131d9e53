import { expect, test } from 'vitest';
import { kindNamed, tempMirror } from '../store/temp-mirror.ts';
import { serveMirror, type Stage } from './stage.ts';

const mirror = () => tempMirror([kindNamed('clients'), kindNamed('products')]);

const languageFor = async ({ get }: Stage, headers: Record<string, string>): Promise<string | undefined> => {
  const answer = await get('/', headers);
  const [, language] = /<html lang="(\w+)">/.exec(await answer.text()) ?? [];
  expect(answer.headers.get('content-language')).toBe(language);
  expect(answer.headers.get('vary')).toBe('Accept-Language, Cookie');
  return language;
};

test('a page is in the language of the cookie, else of the browser, else of the setting', async () => {
  const stage = await serveMirror(await mirror(), { language: 'fr' });
  const cases: readonly (readonly [Record<string, string>, string])[] = [
    [{ cookie: 'bms_language=en', 'accept-language': 'fr' }, 'en'],
    [{ cookie: 'bms_language=de', 'accept-language': 'en-CA' }, 'en'],
    [{ 'accept-language': 'fr-CA,fr;q=0.9,en;q=0.8' }, 'fr'],
    [{ 'accept-language': 'de, EN-gb;q=0.7, fr;q=0.2' }, 'en'],
    [{ 'accept-language': ';;q=x,,*' }, 'fr'],
  ];
  for (const [headers, language] of cases) expect(await languageFor(stage, headers)).toBe(language);
  expect(await languageFor(await serveMirror(await mirror()), {})).toBe('en');
});

const choose = ({ post }: Stage, body: Record<string, string>, headers = {}): Promise<Response> =>
  post('/language', body, { authorization: '', ...headers });

test('who has not signed in chooses a language for a year, and returns to the page', async () => {
  const stage = await serveMirror(await mirror());
  const answer = await choose(stage, { language: 'fr', back: '/find?q=bois%20franc' });
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/find?q=bois%20franc']);
  const cookie = answer.headers.get('set-cookie') ?? '';
  expect(cookie).toBe('bms_language=fr; Max-Age=31536000; Path=/; HttpOnly; SameSite=Lax');
  const form = await (await fetch(stage.url, { headers: { cookie } })).text();
  expect(form).toMatch(/<html lang="fr">[^]*<button name="language" value="en" lang="en">English</s);
});

test('no other site chooses it, or is returned to', async () => {
  const stage = await serveMirror(await mirror());
  const origin = 'http://elsewhere.example';
  expect((await choose(stage, { language: 'fr' }, { origin })).status).toBe(403);
  const away = await choose(stage, { language: 'fr', back: '//elsewhere.example' });
  expect(away.headers.get('location')).toBe('/');
  expect((await choose(stage, { language: 'de' })).status).toBe(400);
});
