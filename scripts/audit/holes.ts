/** A known hole of a library. */
interface Hole {
  readonly name: string;
  readonly severity: string;
  readonly title: string;
  readonly url: string;
}

interface AuditReport {
  readonly message?: string;
  readonly vulnerabilities?: Readonly<Record<string, { readonly via: readonly (string | Hole)[] }>>;
}

/**
 * The holes of the libraries in a bill of materials (CycloneDX).
 *
 * @param report What `npm audit --json` printed.
 * @throws {Error} Where npm could not ask: silence is not proof.
 */
export function holesIn(report: string, bill: string): Hole[] {
  const { vulnerabilities, message } = JSON.parse(report) as AuditReport;
  if (vulnerabilities === undefined) throw new Error(`npm audit got no answer: ${message ?? report}`);
  const { components } = JSON.parse(bill) as { components: readonly { readonly name: string }[] };
  const held = new Set(components.map(({ name }) => name));
  return Object.entries(vulnerabilities)
    .filter(([name]) => held.has(name))
    .flatMap(([, { via }]) => via.filter((hole) => typeof hole !== 'string'));
}
