import type { RouteContext, Server } from './http/server.ts';
import type { CheckResult } from './lib/check-result.ts';
import type { Config } from './config/settings.ts';
import type { AddPage, FilePanel, FileLinks } from './dashboard/parts/page.ts';
import type { StartWork } from './app/scheduled-pulls.ts';
import type { NeedReader } from './needs/read-needs.ts';
import type { CreateCommand } from './cli/parts/command.ts';
import type { CommandName } from './cli/parts/summaries.ts';
import type { AnyOperation } from './operations/operation.ts';

/** Every member of every feature, by what it is. Each is loaded when it is first used. */

type Lazy<T> = () => Promise<T>;

/** Loads all members of a list. */
export const loadAll = <T>(members: readonly Lazy<T>[]): Promise<T[]> =>
  Promise.all(members.map((load) => load()));

export const COMMANDS: Readonly<Partial<Record<CommandName, Lazy<CreateCommand>>>> = {
  export: async () => (await import('./features/export/commands/export.ts')).exportCommand,
  snapshot: async () => (await import('./features/export/commands/snapshot.ts')).snapshotCommand,
  report: async () => (await import('./features/reports/commands.ts')).reportCommand,
  plan: async () => (await import('./features/plans/commands.ts')).planCommand,
  plans: async () => (await import('./features/plans/commands.ts')).plansCommand,
  approve: async () => (await import('./features/plans/commands.ts')).approveCommand,
  reject: async () => (await import('./features/plans/commands.ts')).rejectCommand,
  withdraw: async () => (await import('./features/plans/commands.ts')).withdrawCommand,
  apply: async () => (await import('./features/plans/commands.ts')).applyCommand,
  undo: async () => (await import('./features/plans/commands.ts')).undoCommand,
  verify: async () => (await import('./features/verify/commands.ts')).verifyCommand,
  mcp: async () => (await import('./features/mcp/commands.ts')).mcpCommand,
  move: async () => (await import('./features/move/commands/move.ts')).moveCommand,
};

export const ROUTES: readonly Lazy<(app: Server, context: RouteContext) => void>[] = [
  async () => (await import('./features/export/routes.ts')).exportRoutes,
  async () => (await import('./features/reports/routes.ts')).reportRoutes,
  async () => (await import('./features/plans/routes.ts')).planRoutes,
  async () => (await import('./features/mcp/routes.ts')).mcpRoutes,
];

/** What a person may do beside the operations of the core. */
export const OPERATIONS: readonly Lazy<readonly AnyOperation[]>[] = [
  async () => (await import('./features/plans/operations/plans.ts')).planOperations,
];

/** What the page of exports has beside kinds and views. */
const FILE_PANELS: readonly Lazy<FilePanel>[] = [
  async () => (await import('./features/reports/pages.ts')).reportPanel,
];

export const PAGE_ROUTES: readonly Lazy<AddPage>[] = [
  async () =>
    (await import('./features/export/pages/exports-page.ts')).exportsPage(await loadAll(FILE_PANELS)),
  async () => (await import('./features/export/pages/changes-file.ts')).addChangesFile,
  async () => (await import('./features/reports/pages.ts')).addReportPage,
  async () => (await import('./features/plans/pages/plans-page.ts')).addPlansPage,
  async () => (await import('./features/plans/pages/plan-page.ts')).addPlanPage,
];

/** Links to files of what a page shows. */
export const FILE_LINKS: readonly Lazy<FileLinks>[] = [
  async () => (await import('./features/export/pages/export-links.ts')).exportLinks,
];

const NEEDS: readonly Lazy<NeedReader>[] = [
  async () => (await import('./features/plans/needs.ts')).readPlanNeeds,
];

export const needsOfFeatures: NeedReader = async (session, kinds, rules) =>
  (await Promise.all((await loadAll(NEEDS)).map((read) => read(session, kinds, rules)))).flat();

/** What `serve` does beside the work of the core. Each returns a function that stops it. */
export const WORK: readonly Lazy<StartWork>[] = [
  async () => (await import('./features/notify/serve.ts')).startNotifications,
];

/** What `doctor` checks beside the core. */
export const CHECKS: readonly Lazy<(config: Config) => Promise<readonly CheckResult[]>>[] = [
  async () => (await import('./features/notify/checks.ts')).checkMail,
];
