import { defineConfig } from 'drizzle-kit';

export default defineConfig({
  dialect: 'postgresql',
  schema: './src/mirror/postgres-schema.ts',
  out: './migrations/postgres',
});
