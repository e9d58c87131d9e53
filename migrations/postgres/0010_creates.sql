ALTER TABLE "outbox" ADD COLUMN "allow_double" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "outbox" ADD COLUMN "elapsed_ms" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "outbox" ADD COLUMN "elapsed_at" timestamp(3) with time zone;