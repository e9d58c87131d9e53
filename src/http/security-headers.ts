import { createHash } from 'node:crypto';
import helmet from '@fastify/helmet';
import type { Server } from './server.ts';

/** The style of the sign-in form, written into the page: all other files need authentication. */
export const SIGN_IN_STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; background: light-dark(#f5f6f8, #10151b); }
body { display: grid; place-items: center; min-height: 90vh; margin: 0 1rem; color: light-dark(#18212b, #e7ecf2); }
main { background: light-dark(#fff, #182028); border: 1px solid light-dark(#dfe4ea, #2b3642); border-radius: 12px;
  max-width: 22rem; padding: 1.5rem 2rem; }
h1 { font-size: 1.2rem; margin: 0 0 1rem; }
form { display: grid; gap: 0.5rem; }
label { display: grid; font-weight: 600; gap: 0.5rem; }
input, button { border: 1px solid light-dark(#8793a1, #6b7886); border-radius: 8px; font: inherit; padding: 0.5rem 0.7rem; }
button { background: #0b6b6b; border-color: #0b6b6b; color: #fff; cursor: pointer; font-weight: 600; }
:focus-visible { outline: 3px solid #2f8fdd; outline-offset: 2px; }
.fault { color: light-dark(#a5211a, #ff9d94); font-weight: 600; }
.language { justify-items: start; margin: 1rem 0 0; }
.language button { background: none; border: 0; color: inherit; font-weight: 400; padding: 0; text-decoration: underline; }
.quiet { color: light-dark(#566373, #a0adbb); font-size: 0.85rem; margin: 1rem 0 0; }
`;

const STYLE_HASH = `'sha256-${createHash('sha256').update(SIGN_IN_STYLE).digest('base64')}'`;

/**
 * Adds the security headers to every answer. `same-origin` instead of `no-referrer`: with the latter, browsers send forms with
 * `Origin: null`. Pages load everything from our own files; the only inline exception is the style of the sign-in form.
 */
export async function secureAnswers(app: Server): Promise<void> {
  await app.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        styleSrc: [STYLE_HASH],
        styleSrcElem: ["'self'", STYLE_HASH],
        scriptSrc: ["'self'"],
        connectSrc: ["'self'"],
        imgSrc: ["'self'"],
        formAction: ["'self'"],
        baseUri: ["'none'"],
        frameAncestors: ["'none'"],
      },
    },
    referrerPolicy: { policy: 'same-origin' },
    strictTransportSecurity: false, // The proxy in front decides; we serve plain HTTP.
    xFrameOptions: { action: 'deny' },
  });
  app.addHook('onRequest', async (_request, reply) => {
    void reply.header('cache-control', 'no-store');
    return Promise.resolve();
  });
}
