        ELSE
            CASE v_slot
{branches}            END CASE;
