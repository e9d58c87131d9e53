/** The exact value of a decimal or JSON number, as `<whole number>e<power>`: equal values, equal texts. */
export function exactValue(token: string): string {
  const [mantissa = '', power = '0'] = token.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  let digits = BigInt(`${whole}${fraction}`.replace('-', ''));
  if (digits === 0n) return '0e0';
  let exponent = BigInt(power) - BigInt(fraction.length);
  for (; digits % 10n === 0n; digits /= 10n) exponent++;
  return `${token.startsWith('-') ? '-' : ''}${digits}e${exponent}`;
}
