CREATE TABLE "freshness" (
	"kind" text NOT NULL,
	"unseen_p50_seconds" bigint,
	"unseen_p95_seconds" bigint,
	"measured_at" timestamp(3) with time zone,
	"sweep_asked_at" timestamp(3) with time zone,
	CONSTRAINT "freshness_kind_pk" PRIMARY KEY("kind")
);
--> statement-breakpoint
CREATE TABLE "request_budgets" (
	"name" text NOT NULL,
	"thousandths" bigint NOT NULL,
	"filled_at" timestamp(3) with time zone NOT NULL,
	"times_halved" bigint NOT NULL,
	"halved_at" timestamp(3) with time zone,
	CONSTRAINT "request_budgets_name_pk" PRIMARY KEY("name")
);
--> statement-breakpoint
ALTER TABLE "kind_state" ADD COLUMN "lease_yields" bigint;