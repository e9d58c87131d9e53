import { join } from 'node:path';
import { CLIENT_REPORTS } from './catalogue/clients.ts';
import { PRODUCT_REPORTS } from './catalogue/products.ts';
import { WORK_REPORTS } from './catalogue/work.ts';
import type { Report } from './report.ts';

/** Where the reports, their plots, their page and the dbt project are. */
export const REPORTING = join(import.meta.dirname, '../../docs/reporting');

/** Every report and metric of docs/reporting and deploy/superset. */
export const REPORTS: readonly Report[] = [...CLIENT_REPORTS, ...PRODUCT_REPORTS, ...WORK_REPORTS];
