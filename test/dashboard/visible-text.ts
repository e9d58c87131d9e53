const VOID = new Set(['meta', 'link', 'input', 'img', 'br', 'wbr', 'line', 'path', 'rect']);

/** A start or end of an element, or the text between two. */
const TOKEN =
  /<!doctype[^>]*>|<(?<end>\/?)(?<tag>[a-z][a-z\d]*)(?<rest>(?:[^>"]|"[^"]*")*)>|(?<text>[^<]+)/gi;

/** What is data, or says that it is English. */
const isApart = (tag: string, rest: string): boolean =>
  ['code', 'pre', 'time', 'del', 'ins', 'style', 'script'].includes(tag) ||
  / lang="en"| translate="no"| class="value"/.test(rest);

/** Attributes that are read out or shown; a `title` may quote a code or a text of the service. */
const SPOKEN = / (?:aria-label|placeholder|data-title|alt)="([^"]*)"/g;

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

const decoded = (text: string): string =>
  text.replaceAll(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name] ?? '');

/** The texts of a page that are ours to say: neither data, nor marked as English. */
export function ourTextsIn(page: string): readonly string[] {
  const texts: string[] = [];
  const open: { readonly tag: string; readonly isApart: boolean }[] = [];
  for (const { tag, rest, text, isEnd } of tokensOf(page)) {
    const isOutside = open.at(-1)?.isApart === true;
    if (isEnd) {
      const closed = open.pop();
      if (closed?.tag !== tag) throw new Error(`<${String(closed?.tag)}> is closed by </${tag}>`);
    } else if (tag === '') texts.push(...(isOutside ? [] : [decoded(text)]));
    else {
      const isNowApart = isOutside || isApart(tag, rest);
      if (!isNowApart) texts.push(...spokenIn(rest));
      if (!VOID.has(tag)) open.push({ tag, isApart: isNowApart });
    }
  }
  return texts;
}

const tokensOf = (page: string) =>
  [...page.matchAll(TOKEN)].map(({ groups: { end = '', tag = '', rest = '', text = '' } = {} }) => ({
    tag,
    rest,
    text,
    isEnd: end === '/',
  }));

function spokenIn(attributes: string): readonly string[] {
  const spoken = [...attributes.matchAll(SPOKEN)].map(([, text = '']) => decoded(text));
  const [, ofScript = '{}'] = / data-words="([^"]*)"/.exec(attributes) ?? [];
  return [...spoken, ...Object.values(JSON.parse(decoded(ofScript)) as Record<string, string>)];
}

/** The our pages that a page leads to. */
export const linksIn = (page: string): readonly string[] =>
  [...page.matchAll(/<a [^>]*href="(\/[^"#]*)/g)].map(([, address = '']) => decoded(address));
