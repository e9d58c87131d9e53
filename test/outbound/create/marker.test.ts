import { describe, expect, test } from 'vitest';
import { markerOf, withMarker } from '../../../src/outbound/create/marker.ts';
import { kindNamed } from '../../mirror/temp-mirror.ts';

const clients = kindNamed('clients');
const FIELDS = { clients: 'adresse2' };

describe('the mark of a create', () => {
  test('is there only for kinds whose settings name a field', () => {
    expect(markerOf(kindNamed('products'), { key: 'a' }, FIELDS)).toBeNull();
    expect(markerOf(clients, { key: 'a' }, FIELDS)?.field).toBe('adresse2');
  });

  test('is the same for the same key, another for another, and does not tell the key', () => {
    const text = (key: string) => markerOf(clients, { key }, FIELDS)?.text ?? '';
    expect(text('order-1')).toBe(text('order-1'));
    expect(text('order-1')).not.toBe(text('order-2'));
    expect(text('order-1')).toMatch(/^bms-sync:[0-9a-f]{16}$/);
  });

  test('goes by the name of a write, behind what the field is to hold', () => {
    const marker = { field: 'adresse2', text: 'M' };
    expect(withMarker(clients, { code: 'A' }, null)).toEqual({ code: 'A' });
    expect(withMarker(clients, { code: 'A' }, marker)).toEqual({ code: 'A', address2: 'M' });
    expect(withMarker(clients, { address2: 'Rue' }, marker)).toEqual({ address2: 'Rue M' });
    expect(withMarker(clients, { address2: '' }, marker)).toEqual({ address2: 'M' });
    expect(withMarker(clients, { address2: 12 }, marker)).toEqual({ address2: '12 M' });
  });

  test('goes into an undocumented field under its own name', () => {
    expect(withMarker(clients, {}, { field: 'memo', text: 'M' })).toEqual({ memo: 'M' });
  });
});
