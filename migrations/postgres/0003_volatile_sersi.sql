ALTER TABLE "deletions" ADD COLUMN "certified" bigint;--> statement-breakpoint
ALTER TABLE "kind_state" ADD COLUMN "last_complete_sweep" bigint;--> statement-breakpoint
ALTER TABLE "kind_state" ADD COLUMN "uncertified_sweeps" bigint;--> statement-breakpoint
ALTER TABLE "kind_state" ADD COLUMN "held_since" timestamp(3) with time zone;--> statement-breakpoint
ALTER TABLE "kind_state" ADD COLUMN "held_records" bigint;