/** The style of our pages; the content security policy names its hash, so no other style applies. */
export const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 2rem auto; max-width: 72rem; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; width: 100%; }
caption { text-align: left; font-weight: 600; }
th, td { border-bottom: 1px solid #8884; padding: 0.3rem 0.8rem 0.3rem 0; text-align: left; }
td.number { font-variant-numeric: tabular-nums; text-align: right; }
input, button { font: inherit; padding: 0.4rem 0.6rem; }
.fault { font-weight: 600; }
`;
