import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { openSource } from '../../src/source/source.ts';
import type { Source } from '../../src/source/source.ts';
import { SOURCE_SETTINGS } from '../support/source-settings.ts';
import { logger, rewriting, sandbox } from './support.ts';
import { clockAt } from './steps.ts';

export interface MovingService {
  /** What a mirror pulls from. */
  readonly service: Sandbox;
  /** The truth. */
  readonly honest: Sandbox;
  /** Lets the list stand still, or move again. */
  readonly move: (isMoving: boolean) => void;
}

/**
 * A service whose list changes during each reading: whenever page 1 has been answered, a record of page 2 goes and another
 * one comes at the end, so that no end of the list is ever confirmed.
 */
export async function movingService(kind: string, size = 260): Promise<MovingService> {
  const honest = await sandbox({ size });
  let isMoving = false;
  let comers = 0;
  const service = await rewriting(honest, (body, path) => {
    if (!isMoving || !/[?&]page=1(&|$)/.test(path)) return body;
    const { world } = honest;
    world.remove(kind, world.ids(kind)[Math.floor(world.count(kind) * 0.6)] ?? 0);
    world.insert(kind, { code: `ZZZ-${++comers}` });
    return body;
  });
  return { service, honest, move: (is) => void (isMoving = is) };
}

/** A source that asks for one page after the other, however long its list has moved: then page 2 is asked for when page 1 has been answered. */
export function oneByOne({ url, token }: Sandbox, minute: number): Source {
  return openSource(
    { ...SOURCE_SETTINGS, baseUrl: url, token, concurrency: 1 },
    { clock: clockAt(minute), logger },
  );
}
