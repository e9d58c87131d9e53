CREATE TABLE "links" (
	"kind" text NOT NULL,
	"record_id" text NOT NULL,
	"outbox_id" bigint NOT NULL,
	"linked_at" timestamp(3) with time zone NOT NULL,
	CONSTRAINT "links_kind_record_id_pk" PRIMARY KEY("kind","record_id")
);
--> statement-breakpoint
CREATE TABLE "outbox_attempts" (
	"outbox_id" bigint NOT NULL,
	"n" integer NOT NULL,
	"opened_at" timestamp(3) with time zone NOT NULL,
	"closed_at" timestamp(3) with time zone,
	"grade" text,
	"status" bigint,
	"request" text NOT NULL,
	"response_start" text,
	CONSTRAINT "outbox_attempts_outbox_id_n_pk" PRIMARY KEY("outbox_id","n")
);
--> statement-breakpoint
CREATE TABLE "workers" (
	"owner" text NOT NULL,
	"roles" text NOT NULL,
	"started_at" timestamp(3) with time zone NOT NULL,
	"seen_at" timestamp(3) with time zone NOT NULL,
	CONSTRAINT "workers_owner_pk" PRIMARY KEY("owner")
);
--> statement-breakpoint
CREATE TABLE "write_blocks" (
	"kind" text NOT NULL,
	"reason" text NOT NULL,
	"since" timestamp(3) with time zone NOT NULL,
	"probe_at" timestamp(3) with time zone NOT NULL,
	CONSTRAINT "write_blocks_kind_pk" PRIMARY KEY("kind")
);
--> statement-breakpoint
DROP INDEX "outbox_by_kind_state";--> statement-breakpoint
ALTER TABLE "outbox" ADD COLUMN "base_at" timestamp(3) with time zone;--> statement-breakpoint
ALTER TABLE "pages" ADD COLUMN "records" text;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "epoch" bigint;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "next_attempt_at" timestamp(3) with time zone;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "slot" text;--> statement-breakpoint
CREATE UNIQUE INDEX "links_outbox_id" ON "links" USING btree ("outbox_id");--> statement-breakpoint
CREATE INDEX "outbox_by_state_next_attempt_at" ON "outbox" USING btree ("state","next_attempt_at");--> statement-breakpoint
CREATE INDEX "outbox_by_kind_natural_key_state" ON "outbox" USING btree ("kind","natural_key","state");--> statement-breakpoint
CREATE INDEX "outbox_by_kind_record_id_state" ON "outbox" USING btree ("kind","record_id","state");--> statement-breakpoint
CREATE UNIQUE INDEX "runs_slot" ON "runs" USING btree ("slot");