ALTER TABLE `kind_state` DROP COLUMN `held_since`;--> statement-breakpoint
ALTER TABLE `kind_state` DROP COLUMN `held_records`;