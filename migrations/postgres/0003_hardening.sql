CREATE TABLE "outbox_keys" (
	"idempotency_key" text NOT NULL,
	"outbox_id" bigint NOT NULL,
	"kind" text NOT NULL,
	"operation" text NOT NULL,
	"record_id" text,
	"state" text NOT NULL,
	"request_hash" text NOT NULL,
	"base_hash" text,
	"ended_at" timestamp(3) with time zone NOT NULL,
	CONSTRAINT "outbox_keys_idempotency_key_pk" PRIMARY KEY("idempotency_key")
);
--> statement-breakpoint
CREATE TABLE "unlisted_rows" (
	"kind" text NOT NULL,
	"record_id" text NOT NULL,
	CONSTRAINT "unlisted_rows_kind_record_id_pk" PRIMARY KEY("kind","record_id")
);
--> statement-breakpoint
ALTER TABLE "deletions" ADD COLUMN "certified" bigint;--> statement-breakpoint
ALTER TABLE "fields" ADD COLUMN "text_column" text;--> statement-breakpoint
ALTER TABLE "fields" ADD COLUMN "text_position" bigint;--> statement-breakpoint
ALTER TABLE "kind_state" ADD COLUMN "system_ids" text;--> statement-breakpoint
ALTER TABLE "kind_state" ADD COLUMN "last_complete_sweep" bigint;--> statement-breakpoint
ALTER TABLE "kind_state" ADD COLUMN "uncertified_sweeps" bigint;--> statement-breakpoint
ALTER TABLE "kind_state" ADD COLUMN "held_since" timestamp(3) with time zone;--> statement-breakpoint
ALTER TABLE "kind_state" ADD COLUMN "held_records" bigint;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "lease_until" timestamp(3) with time zone;--> statement-breakpoint
CREATE INDEX "outbox_keys_by_kind_record_id" ON "outbox_keys" USING btree ("kind","record_id");--> statement-breakpoint
CREATE UNIQUE INDEX "outbox_keys_outbox_id" ON "outbox_keys" USING btree ("outbox_id");