import { html } from './html.ts';
import type { Html } from './html.ts';

/** A button that carries out a person's decision. */
export interface DecisionButton {
  readonly label: string;
  /** The route that carries it out. */
  readonly address: string;
  /** Further values of the form. */
  readonly values?: Readonly<Record<string, string>>;
  /** The decision that most people make. */
  readonly isMain?: boolean;
  /** The name of the button for screen readers. */
  readonly about?: string;
}

/** Buttons that carry out decisions and then return to the page at `back`. */
export function decisionForms(buttons: readonly DecisionButton[], back: string): Html {
  if (buttons.length === 0) return html``;
  return html`<div class="deciding">
    ${buttons.map(({ label, address, values = {}, isMain, about }) => {
      const hidden = Object.entries({ ...values, back }).map(
        ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
      );
      const unseen = about === undefined ? null : html` <span class="unseen">${about}</span>`;
      return html`<form method="post" action="${address}">
        ${hidden}<button ${isMain === true ? html`class="main"` : null}>${label}${unseen}</button>
      </form>`;
    })}
  </div>`;
}
