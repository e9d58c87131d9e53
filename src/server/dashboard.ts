import { createActivity } from './activity.ts';
import type { Activity } from './activity.ts';
import { createRowCounts } from './row-counts.ts';
import type { RowCounts } from './row-counts.ts';
import type { RouteContext } from './server.ts';

/** The dependencies of the dashboard's pages. */
export interface Dashboard extends RouteContext {
  readonly activity: Activity;
  readonly rowCounts: RowCounts;
  readonly startedAt: Date;
}

export function createDashboard(context: RouteContext): Dashboard {
  const { clock } = context;
  const activity = createActivity(context);
  return { ...context, activity, rowCounts: createRowCounts(context), startedAt: clock.now() };
}
