import { attributesOf, html, type Html, type Part } from '../../http/html.ts';
import type { Kind } from '../../catalog/kind.ts';
import { kindLabel } from '../../catalog/descriptions.ts';
import type { Translator } from '../../lib/text/translator.ts';

export interface FormField {
  readonly name: string;
  readonly label: Part;
  readonly value?: string | undefined;
  /** The values to choose from. */
  readonly choices?: readonly string[];
  /** Their labels; absent: themselves. */
  readonly labelOf?: (choice: string) => string;
  /** The label of no choice; absent: a choice must be made. */
  readonly none?: string;
  readonly type?: 'date' | 'search' | 'file' | 'checkbox' | 'password';
  /** Further attributes of the input. */
  readonly attributes?: Html;
}

function formField(field: FormField): Html {
  const { name, label, value = '', choices, none, type = 'text', labelOf, attributes = null } = field;
  const box = html`<input
    type="checkbox"
    name="${name}"
    value="yes"
    ${value === '' ? null : html`checked`}
  />`;
  if (type === 'checkbox') return html`<label class="choice">${box} ${label}</label>`;
  const option = (choice: string): Html => {
    const more = html`${choice === value ? html`selected` : null} ${labelOf ? null : html`translate="no"`}`;
    return html`<option value="${choice}" ${more}>${labelOf?.(choice) ?? choice}</option>`;
  };
  const given = value === '' ? null : html`value="${value}"`;
  const input = html`<input type="${type}" name="${name}" ${given} ${attributes} />`;
  const select = html`<select name="${name}">
    ${none === undefined ? null : html`<option value="">${none}</option>`} ${choices?.map(option) ?? null}
  </select>`;
  return html`<label>${label} ${choices === undefined ? input : select}</label>`;
}

interface FormParts {
  readonly action: string;
  readonly method?: 'get';
  /** `filters`: the fields beside each other. */
  readonly look?: string;
  readonly isUpload?: true;
  /** The values that are sent unseen. */
  readonly values?: Readonly<Record<string, string>>;
  readonly fields?: readonly FormField[];
  /** The label of its button, or its buttons. */
  readonly button: string | Html;
  /** The decision that most people make. */
  readonly isMain?: boolean | undefined;
}

export function formOf({ action, values = {}, fields = [], button, ...form }: FormParts): Html {
  const { method = 'post', look = null, isUpload = null, isMain } = form;
  const hidden = Object.entries(values).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
  );
  const enctype = isUpload === null ? null : 'multipart/form-data';
  return html`<form${attributesOf({ method, action, class: look, enctype })}>
    ${hidden} ${fields.map(formField)}
    ${typeof button === 'string' ? html`<button${attributesOf({ class: isMain === true ? 'main' : null })}>${button}</button>` : button}
  </form>`;
}

export const filterForm = ({ t }: Translator, action: string, ...fields: readonly FormField[]): Html =>
  formOf({
    action,
    method: 'get',
    look: 'filters',
    fields: fields.map((field) => ({ none: t('all'), ...field })),
    button: t('Show'),
  });

/** A choice of one of these kinds. */
export const kindChoice = (reader: Translator, kinds: readonly Kind[], value?: string): FormField => ({
  name: 'kind',
  label: reader.t('kind'),
  value,
  choices: kinds.map(({ name }) => name),
  labelOf: (name) => kindLabel(reader, name),
});
