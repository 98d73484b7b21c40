-- The day of the first value.
select cast(person_id as bigint) as person_id, min(cast(measurement_date as date)) as index_date
from measurement
where cast(measurement_concept_id as bigint) in ({concepts})
  and coalesce(cast(unit_concept_id as bigint), 0) in ({units})
  and value_as_number is not null
group by 1
