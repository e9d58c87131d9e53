import { defineConfig } from 'drizzle-kit';

export default defineConfig({
  dialect: 'postgresql',
  schema: './scripts/migrations/postgres-schema.ts',
  out: './migrations/postgres',
});
