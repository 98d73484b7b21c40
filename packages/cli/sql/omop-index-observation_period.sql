-- The day on which observation begins; it may be long before the first value.
select cast(person_id as bigint) as person_id, min(cast(observation_period_start_date as date)) as index_date
from observation_period
group by 1
