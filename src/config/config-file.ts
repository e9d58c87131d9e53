import { readFileSync } from 'node:fs';
import { LineCounter, parseDocument } from 'yaml';
import type { Document } from 'yaml';
import { isTree } from './layer.ts';
import type { ReadLayers } from './layer.ts';

/** Reads the settings of a YAML file. */
export function readConfigFile(file: string): ReadLayers {
  try {
    return reading(file, readFileSync(file, 'utf8'));
  } catch (error) {
    return { layers: [], faults: [`${file}: ${String(error)}`] };
  }
}

function reading(file: string, text: string): ReadLayers {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  // The parser's own messages quote the file, secrets included: only its codes are repeated.
  const faults = document.errors.map(({ code, pos }) => {
    const { line, col } = lines.linePos(pos[0]);
    return `${file}:${line}:${col}: not valid YAML (${code.toLowerCase().replaceAll('_', ' ')})`;
  });
  return faults.length > 0 ? { layers: [], faults } : contents(file, document);
}

function contents(file: string, document: Document.Parsed): ReadLayers {
  const values = plainValues(document);
  if (isTree(values)) return { layers: [{ origin: file, values }], faults: [] };
  return { layers: [], faults: [`${file}: expected a map of settings`] };
}

/** An empty file sets nothing. */
function plainValues(document: Document.Parsed): unknown {
  try {
    return document.toJS() ?? {};
  } catch {
    return undefined; // An alias without its anchor; the error would quote it, and it may be a secret that begins with *.
  }
}
