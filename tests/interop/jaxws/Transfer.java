import jakarta.xml.bind.annotation.XmlAccessType;
import jakarta.xml.bind.annotation.XmlAccessorType;
import jakarta.xml.bind.annotation.XmlAnyElement;
import jakarta.xml.bind.annotation.XmlAttribute;
import jakarta.xml.bind.annotation.XmlType;
import java.util.ArrayList;
import java.util.List;

/** transfer-information-type. */
@XmlAccessorType(XmlAccessType.FIELD)
@XmlType(name = "transfer-information-type", namespace = Names.BYTEIO)
public class Transfer {
    @XmlAnyElement(lax = true)
    public List<Object> any = new ArrayList<>();

    @XmlAttribute(name = "transfer-mechanism")
    public String mechanism;
}
